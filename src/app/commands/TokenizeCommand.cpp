#include <boost/program_options/value_semantic.hpp>

#include <string>

#include "app/CommandLine.hpp"
#include "base/Error.hpp"
#include "base/files/File.hpp"
#include "base/files/HubCache.hpp"
#include "base/text/Json.hpp"
#include "tokenizer/Tokenizer.hpp"
#include "tokenizer/stages/Stages.hpp"

namespace stereosweep::app {
namespace {

namespace options = boost::program_options;

enum class LineForm { text, json };

void append_answer(std::string& out, const tokenizer::Encoding& encoding) {
  out += R"({"ids":[)";
  for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
    out += i == 0 ? "" : ",";
    out += std::to_string(encoding.ids[i]);
  }
  out += R"(],"offsets":[)";
  for (std::size_t i = 0; i < encoding.offsets.size(); ++i) {
    out += i == 0 ? "[" : ",[";
    out += std::to_string(encoding.offsets[i].begin);
    out += ',';
    out += std::to_string(encoding.offsets[i].end);
    out += ']';
  }
  out += "]}";
}

std::string text_of(std::string line, LineForm form) {
  if (form == LineForm::text) {
    return line;
  }
  const auto json = base::parse_json(line, "line");
  base::refuse_if(!json.is_string(), std::string("the line is a JSON ") + json.type_name(),
                  "with --json-lines each line is a JSON string");
  return json.get<std::string>();
}

void add_tokenize_options(options::options_description_easy_init add) {
  add("model", options::value<std::string>(),
      "checkpoint directory, GGUF file, or a name in the Hugging Face cache (org/name@revision)");
  add("no-special", "without the special tokens that frame a text");
  add("json-lines", "each line is a JSON string, so that a text may hold line ends");
}

base::ExitCode execute_tokenize(const CommandLine& line) {
  base::refuse_if(!line.has("model"), "no --model is given", "see stereosweep tokenize --help");
  const auto directory = base::checkpoint_directory(line.get<std::string>("model"));
  const auto files = base::read_checkpoint_files(directory, base::CheckpointPart::small_files);
  const auto tokenizer = tokenizer::Tokenizer::from_files(files);
  tokenizer.log_warnings();
  const auto form = line.has("json-lines") ? LineForm::json : LineForm::text;
  const auto special = line.has("no-special") ? tokenizer::SpecialTokens::leave_out : tokenizer::SpecialTokens::add;
  const auto answer = [&](std::string text, std::string& out) {
    append_answer(out, tokenizer.encode(text_of(std::move(text), form), special));
  };
  return answer_lines(answer, tokenizer::to_valid_utf8);
}

}  // namespace

const Command tokenize_command{
    "tokenize",
    "lines of text -> ids and byte offsets",
    "stereosweep tokenize --model DIR: one line {\"ids\":[..],\"offsets\":[[start,end],..]} for each line of "
    "standard input (offsets in bytes)",
    execute_tokenize,
    Places::none,
    "",
    add_tokenize_options};

}  // namespace stereosweep::app
