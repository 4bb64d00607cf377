// tokenizer_decode_lines MODEL_DIR keep|skip|settled: a list of ids on each line of standard input -> its text as a
// JSON string; settled: a list of the settled texts of its first 0, 1, 2, ... ids.
#include <iostream>
#include <string>

#include "base/File.hpp"
#include "base/Json.hpp"
#include "base/Text.hpp"
#include "tokenizer/Tokenizer.hpp"

int main(int argc, char** argv) {
  using stereosweep::tokenizer::Tokenizer;
  if (argc != 3) {
    std::cerr << "usage: tokenizer_decode_lines MODEL_DIR keep|skip|settled\n";
    return 2;
  }
  const auto tokenizer = Tokenizer::from_files(
      stereosweep::base::read_checkpoint_files(argv[1], stereosweep::base::CheckpointPart::small_files));
  const std::string mode = argv[2];
  const auto special = mode != "keep" ? Tokenizer::Special::skip : Tokenizer::Special::keep;
  for (std::string line; std::getline(std::cin, line);) {
    const auto ids = stereosweep::base::parse_json(line, "line").get<std::vector<stereosweep::tokenizer::TokenId>>();
    if (mode != "settled") {
      std::cout << stereosweep::base::json_quote(tokenizer.decode(ids, special)) << '\n';
      continue;
    }
    for (std::size_t i = 0; i <= ids.size(); ++i) {
      const auto text = tokenizer.decode_settled(std::span(ids).first(i), special);
      std::cout << (i == 0 ? '[' : ',') << stereosweep::base::json_quote(text);
    }
    std::cout << "]\n";
  }
}
