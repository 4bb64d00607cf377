#include <boost/program_options/value_semantic.hpp>

#include <charconv>
#include <iostream>
#include <string>
#include <string_view>

#include "app/CommandLine.hpp"
#include "base/Error.hpp"
#include "base/files/File.hpp"
#include "base/files/HubCache.hpp"
#include "base/text/Json.hpp"
#include "base/text/Text.hpp"
#include "tokenizer/Tokenizer.hpp"
#include "tokenizer/stages/Stages.hpp"

namespace stereosweep::app {
namespace {

namespace options = boost::program_options;

enum class LineForm { text, json };

void append_number(std::string& out, std::uint64_t value) {
  char digits[20];
  const auto result = std::to_chars(std::begin(digits), std::end(digits), value);
  out.append(std::begin(digits), result.ptr);
}

void append_answer(std::string& out, const tokenizer::Encoding& encoding) {
  out += R"({"ids":[)";
  for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
    out += i == 0 ? "" : ",";
    append_number(out, static_cast<std::uint64_t>(encoding.ids[i]));
  }
  out += R"(],"offsets":[)";
  for (std::size_t i = 0; i < encoding.offsets.size(); ++i) {
    out += i == 0 ? "[" : ",[";
    append_number(out, encoding.offsets[i].begin);
    out += ',';
    append_number(out, encoding.offsets[i].end);
    out += ']';
  }
  out += "]}\n";
}

std::string text_of(std::string line, LineForm form) {
  if (form == LineForm::text) {
    return line;
  }
  const auto json = base::parse_json(line, "line");
  if (!json.is_string()) {
    throw base::InputError(base::describe(std::string("the line is a JSON ") + json.type_name(),
                                          "with --json-lines each line is a JSON string"));
  }
  return json.get<std::string>();
}

/// Writes the answer of one line; false for an error.
bool answer(const tokenizer::Tokenizer& tokenizer, std::string line, LineForm form, tokenizer::SpecialTokens special,
            std::string& out) {
  const auto start = out.size();
  try {
    append_answer(out, tokenizer.encode(text_of(std::move(line), form), special));
    return true;
  } catch (const base::Error& error) {
    out.resize(start);
    out += R"({"error":)" + base::json_quote(tokenizer::to_valid_utf8(error.what())) + "}\n";
    return false;
  }
}

base::ExitCode tokenize_lines(const tokenizer::Tokenizer& tokenizer, LineForm form, tokenizer::SpecialTokens special) {
  constexpr std::size_t flush_size = 1 << 16;
  std::string line;
  std::string out;
  bool all_good = true;
  while (std::getline(std::cin, line)) {  // ends at \n alone; a last line without one counts
    all_good = answer(tokenizer, std::move(line), form, special, out) && all_good;
    if (out.size() >= flush_size || std::cin.rdbuf()->in_avail() <= 0) {  // do not let a waiting user wait
      std::cout << out << std::flush;
      out.clear();
    }
  }
  std::cout << out << std::flush;
  return all_good ? base::ExitCode::done : base::ExitCode::error;
}

void add_tokenize_options(options::options_description_easy_init add) {
  add("model", options::value<std::string>(),
      "checkpoint directory, or a name in the Hugging Face cache (org/name@revision)");
  add("no-special", "without the special tokens that frame a text");
  add("json-lines", "each line is a JSON string, so that a text may hold line ends");
}

base::ExitCode execute_tokenize(const CommandLine& line) {
  if (!line.has("model")) {
    throw base::InputError(base::describe("no --model is given", "see stereosweep tokenize --help"));
  }
  std::ios::sync_with_stdio(false);
  std::cin.tie(nullptr);
  const auto directory = base::checkpoint_directory(line.get<std::string>("model"));
  const auto files = base::read_checkpoint_files(directory, base::CheckpointPart::small_files);
  const auto tokenizer = tokenizer::Tokenizer::from_files(files);
  return tokenize_lines(tokenizer, line.has("json-lines") ? LineForm::json : LineForm::text,
                        line.has("no-special") ? tokenizer::SpecialTokens::leave_out : tokenizer::SpecialTokens::add);
}

}  // namespace

const Command tokenize_command{
    "tokenize",
    "lines of text -> ids and byte offsets",
    "stereosweep tokenize --model DIR: one line {\"ids\":[..],\"offsets\":[[start,end],..]} for each line of "
    "standard input (offsets in bytes)",
    Places::none,
    "",
    add_tokenize_options,
    execute_tokenize};

}  // namespace stereosweep::app
