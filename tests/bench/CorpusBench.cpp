// How fast contexts are collected from a file in the page cache, on one core. Prints decompressed megabytes a second.
//   bench_corpus FILE WORDS [exact|ignore] [rounds]     WORDS: one word or phrase a line
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "corpus/Collect.hpp"
#include "probes/contexts/Contexts.hpp"

namespace {

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace stereosweep;
  if (argc < 3) {
    std::cerr << "bench_corpus FILE WORDS [exact|ignore] [rounds]\n";
    return 2;
  }
  std::vector<std::string> words;
  std::ifstream file(argv[2]);
  for (std::string word; std::getline(file, word);) {
    words.push_back(word);
  }
  corpus::Corpus corpus;
  corpus.files = {argv[1]};
  corpus.letter_case =
      argc > 3 && std::string(argv[3]) == "ignore" ? corpus::Corpus::Case::ignore : corpus::Corpus::Case::exact;
  for (int round = argc > 4 ? std::stoi(argv[4]) : 3; round > 0; --round) {
    const auto begin = processor_seconds();
    const auto sample = corpus::collect(corpus, words, 1);
    const auto seconds = processor_seconds() - begin;
    std::uint64_t occurrences = 0;
    for (const auto& word : sample.words) {
      occurrences += word.occurrences;
    }
    std::cout << argv[1] << ": " << words.size() << " words, " << sample.bytes << " bytes, " << sample.lines
              << " lines, " << occurrences << " occurrences, " << seconds << " processor s, "
              << static_cast<double>(sample.bytes) / seconds * 1e-6 << " MB/s\n";
  }
  return 0;
}
