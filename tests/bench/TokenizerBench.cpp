// bench_tokenizer MODEL_DIR TEXT_FILE: tokenizes the file's lines again and again for two seconds of this thread's
// time; prints MB per second of it.
#include <chrono>
#include <cstdio>
#include <ctime>
#include <iostream>

#include "base/files/File.hpp"
#include "base/text/Text.hpp"
#include "tokenizer/Tokenizer.hpp"

int main(int argc, char** argv) {
  namespace tokenizer = stereosweep::tokenizer;
  using Clock = std::chrono::steady_clock;
  if (argc != 3) {
    std::cerr << "usage: bench_tokenizer MODEL_DIR TEXT_FILE\n";
    return 2;
  }
  const auto started = Clock::now();
  const auto made = tokenizer::Tokenizer::from_files(
      stereosweep::base::read_checkpoint_files(argv[1], stereosweep::base::CheckpointPart::small_files));
  const std::chrono::duration<double> load = Clock::now() - started;
  const auto lines = stereosweep::base::split(stereosweep::base::read_file(argv[2]), '\n');
  std::size_t num_bytes = 0;
  std::size_t num_tokens = 0;
  const auto begin = std::clock();
  double spent = 0;
  do {
    for (const auto& line : lines) {
      num_tokens += made.encode(line, tokenizer::SpecialTokens::add).ids.size();
      num_bytes += line.size() + 1;
    }
    spent = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  } while (spent < 2);
  std::printf("%.1f MB/s, %.0f tokens/s, loaded in %.0f ms\n", static_cast<double>(num_bytes) / 1e6 / spent,
              static_cast<double>(num_tokens) / spent, load.count() * 1e3);
}
