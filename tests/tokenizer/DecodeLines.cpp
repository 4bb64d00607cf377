// tokenizer_decode_lines MODEL_DIR keep|skip: a list of ids on each line of standard input -> its text as a JSON
// string.
#include <iostream>
#include <string>

#include "base/files/File.hpp"
#include "base/text/Json.hpp"
#include "base/text/Text.hpp"
#include "tokenizer/Tokenizer.hpp"

int main(int argc, char** argv) {
  using stereosweep::tokenizer::Tokenizer;
  if (argc != 3) {
    std::cerr << "usage: tokenizer_decode_lines MODEL_DIR keep|skip\n";
    return 2;
  }
  const auto tokenizer = Tokenizer::from_files(
      stereosweep::base::read_checkpoint_files(argv[1], stereosweep::base::CheckpointPart::small_files));
  const auto special = std::string(argv[2]) != "keep" ? Tokenizer::Special::skip : Tokenizer::Special::keep;
  for (std::string line; std::getline(std::cin, line);) {
    const auto ids = stereosweep::base::parse_json(line, "line").get<std::vector<stereosweep::tokenizer::TokenId>>();
    std::cout << stereosweep::base::json_quote(tokenizer.decode(ids, special)) << '\n';
  }
}
