// write_synthetic FILE [NUM_GROUPS [CONTEXTS_PER_BLOCK]]: a result file of known content, for the tests in Python.
// Prints the digest and the program's largest resident size (KiB).
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>

#include "results/Digest.hpp"
#include "results/SyntheticRun.hpp"

int main(int argc, char** argv) {
  using namespace stereosweep;
  if (argc < 2) {
    std::fputs("usage: write_synthetic FILE [NUM_GROUPS [CONTEXTS_PER_BLOCK]]\n", stderr);
    return 2;
  }
  const auto schema = testing::synthetic_schema(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 5);
  const auto plan = testing::synthetic_plan(schema, argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 4);
  results::export_run(testing::synthetic_run(schema, plan, testing::synthetic_source()), argv[1]);
  const auto digest = results::digest_of_file(argv[1]);
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf("%s %ld\n", base::to_hex(digest).c_str(), usage.ru_maxrss);
  return 0;
}
