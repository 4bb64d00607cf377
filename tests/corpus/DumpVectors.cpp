// Prints what read_vectors finds, one line a word: the word, then the bits of its numbers in hexadecimal.
//   dump_vectors FILE automatic|word2vec_text|word2vec_binary|glove_text WORD...
#include <bit>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "base/Error.hpp"
#include "corpus/Corpus.hpp"
#include "corpus/StaticVectors.hpp"

int main(int argc, char** argv) {
  using namespace stereosweep;
  using Format = stereosweep::corpus::StaticVectors::Format;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::map<std::string, Format> formats = {{"automatic", Format::automatic},
                                                 {"word2vec_text", Format::word2vec_text},
                                                 {"word2vec_binary", Format::word2vec_binary},
                                                 {"glove_text", Format::glove_text}};
  try {
    const std::vector<std::string> words(arguments.begin() + 2, arguments.end());
    const auto table = corpus::read_vectors({arguments.at(0), formats.at(arguments.at(1))}, words);
    std::cout << std::hex;
    for (const auto& [word, vector] : table.words) {
      std::cout << (vector.empty() ? "" : word);
      for (const float number : vector) {
        std::cout << '\t' << std::bit_cast<std::uint32_t>(number);
      }
      std::cout << (vector.empty() ? "" : "\n");
    }
  } catch (const base::Error& error) {
    std::cerr << error.what() << '\n';
    return static_cast<int>(error.exit_code());
  }
  return 0;
}
