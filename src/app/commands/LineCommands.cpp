// Commands that answer each line of standard input: texts, sampled answers, queries.
#include <boost/program_options/value_semantic.hpp>

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "answers/AnswerJson.hpp"
#include "app/CommandLine.hpp"
#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/files/File.hpp"
#include "base/files/HubCache.hpp"
#include "base/process/Profile.hpp"
#include "base/text/Json.hpp"
#include "base/text/Text.hpp"
#include "chat/TemplateChild.hpp"
#include "chat/TemplateSource.hpp"
#include "chat/Writing.hpp"
#include "config/ChatKeys.hpp"
#include "engine/EngineFactory.hpp"
#include "query/Compute.hpp"
#include "query/QueryJson.hpp"
#include "tokenizer/Tokenizer.hpp"
#include "tokenizer/stages/Stages.hpp"

namespace stereosweep::app {
namespace {

namespace options = boost::program_options;

/// The next line of standard input, without its \n; a last line without one counts. Nothing behind the last, nor where
/// reading fails (std::cin is bad then). What a line holds beyond `most` bytes is passed over.
std::optional<std::string> next_line(std::size_t most) {
  constexpr auto end = std::char_traits<char>::eof();
  auto& input = *std::cin.rdbuf();
  try {
    if (input.sgetc() == end) {
      return std::nullopt;
    }
    std::string line;
    for (auto byte = input.sbumpc(); byte != end && byte != '\n'; byte = input.sbumpc()) {
      if (line.size() < most) {
        line += static_cast<char>(byte);
      }
    }
    return line;
  } catch (const std::ios_base::failure&) {
    std::cin.setstate(std::ios_base::badbit);
    return std::nullopt;
  }
}

/// For each line of standard input what `answer` appends, or {"error":..} with the error's message as `readable` makes
/// it valid UTF-8; nobody who waits for an answer waits for more lines. Exit status 1: there were errors. `most_kept`:
/// bytes of answers that are kept back while there are lines; 0 where answers take long and none may be lost.
base::ExitCode answer_lines(const std::function<void(std::string line, std::string& out)>& answer,
                            std::string (*readable)(std::string_view message), std::size_t most_kept = 1 << 16) {
  constexpr std::size_t most_bytes = std::size_t{256} << 20;
  std::ios::sync_with_stdio(false);
  std::cin.tie(nullptr);
  auto code = base::ExitCode::done;
  std::string out;
  while (auto line = next_line(most_bytes + 1)) {
    const auto start = out.size();
    try {
      base::refuse_if(line->size() > most_bytes, "a line of more than 256 MiB", "it would have to fit into memory");
      answer(std::move(*line), out);
    } catch (const base::Error& error) {
      out.resize(start);
      out += R"({"error":)" + base::json_quote(readable(error.what())) + "}";
      code = base::ExitCode::error;
    }
    out += '\n';
    if (out.size() >= most_kept || std::cin.rdbuf()->in_avail() <= 0) {  // do not let a waiting user wait
      std::cout << out << std::flush;
      out.clear();
    }
  }
  std::cout << out << std::flush;
  return code;
}

base::ExitCode execute_parse(const CommandLine& /*line*/) {
  return answer_lines([](const std::string& line, std::string& out) { out += answers::parse_line(line); },
                      base::printable);
}

void append_answer(std::string& out, const tokenizer::Encoding& encoding) {
  const auto ids = base::mapped(encoding.ids, [](auto id) { return std::to_string(id); });
  const auto offsets = base::mapped(encoding.offsets, [](const auto& span) {
    return "[" + std::to_string(span.begin) + "," + std::to_string(span.end) + "]";
  });
  out += R"({"ids":[)" + base::join(ids, ",") + R"(],"offsets":[)" + base::join(offsets, ",") + "]}";
}

std::string read_json_text(const std::string& line) {
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
  const bool is_json = line.has("json-lines");
  const auto special = line.has("no-special") ? tokenizer::SpecialTokens::leave_out : tokenizer::SpecialTokens::add;
  const auto answer = [&](const std::string& text, std::string& out) {
    append_answer(out, tokenizer.encode(is_json ? read_json_text(text) : text, special));
  };
  return answer_lines(answer, tokenizer::to_valid_utf8);
}

/// The place of `given` among the names that there are. Throws InputError: `what` is unknown.
std::size_t place_of(const std::string& given, const std::string& what, const std::vector<std::string>& names) {
  const auto place = std::ranges::find(names, given);
  if (place == names.end()) {
    const auto all = base::join(std::span(names).first(names.size() - 1), ", ") + " and " + names.back();
    base::refuse("unknown " + what, "there are " + all, base::did_you_mean(given, names));
  }
  return static_cast<std::size_t>(place - names.begin());
}

void add_query_options(options::options_description_easy_init add) {
  add("model", options::value<std::string>(),
      "checkpoint directory, GGUF file, or a name in the Hugging Face cache (org/name@revision)");
  add("adapter", options::value<std::string>(), "directory of an adapter of the model, as PEFT saves it");
  add("dtype", options::value<std::string>()->default_value("float32"), "float32, bfloat16 or float16");
  add("threads", options::value<int>()->default_value(1), "threads of the tensor operations");
  add("device", options::value<std::string>()->default_value("auto"), "auto, cpu or cuda");
  add("profile", "prints where the time went, at the end, on standard error");
}

/// Writes conversations with the template that a query names, else with the checkpoint's own.
class ChatPrompts {
 public:
  ChatPrompts(std::string model, const tokenizer::Tokenizer& tokenizer)
      : model_(std::move(model)), tokenizer_(tokenizer) {}

  std::string write(std::span<const query::Message> messages, const std::string& name) {
    auto known = templates_.find(name);
    if (known == templates_.end()) {
      const auto chat = name.empty() ? config::find_checkpoint_chat(model_) : config::find_chat(name, "jobs");
      for (const auto& token : chat.control_tokens) {
        base::refuse_if(!tokenizer_.id_of(token),
                        "'" + token + "' of the chat template '" + chat.label + "' is no token of this model",
                        "it would be read as letters");
      }
      known = templates_.emplace(name, chat).first;
    }
    std::vector<chat::Message> conversation;
    for (const auto& message : messages) {
      const auto role =
          place_of(message.role, "role " + base::json_quote(message.role), {"system", "user", "assistant"});
      conversation.push_back({static_cast<chat::Role>(role), message.content});
    }
    try {
      return chat::write_chat(known->second, conversation);
    } catch (const chat::NotWritten&) {
      if (!known->second.origin) {
        throw;
      }
    }
    return render(*known->second.origin, conversation);
  }

 private:
  /// By the template itself: what its pieces are not proven for.
  std::string render(const chat::TemplateOrigin& origin, const std::vector<chat::Message>& conversation) const {
    const auto source = chat::find_template(model_, origin.name);
    base::refuse_if(!source, "the chat template is gone", "'" + model_ + "' had one when this command started");
    const auto rendered = chat::render_with_template(*source, chat::settings_of(origin), {&conversation, 1}).at(0);
    const auto* refusal = std::get_if<chat::Refusal>(&rendered);
    base::refuse_if(refusal != nullptr, "the model's chat template refuses the conversation",
                    refusal == nullptr ? "" : refusal->why);
    return std::get<std::string>(rendered);
  }

  std::string model_;
  const tokenizer::Tokenizer& tokenizer_;
  std::map<std::string, chat::ChatTemplate> templates_;
};

base::ExitCode execute_query(const CommandLine& line) {
  base::refuse_if(!line.has("model"), "--model is missing",
                  "a query needs a checkpoint directory or the name of a cached model");
  engine::EngineSettings settings;
  const auto choose = [&](const std::string& option, const std::vector<std::string>& names) {
    const auto& given = line.get<std::string>(option);
    return place_of(given, "--" + option + " '" + given + "'", names);
  };
  settings.dtype = static_cast<query::Dtype>(choose("dtype", query::dtype_names));
  settings.device = static_cast<query::Device>(choose("device", {"auto", "cpu", "cuda"}));
  settings.threads = line.get<int>("threads");
  if (line.has("profile")) {
    base::profile::enable();
  }
  const auto& model = line.get<std::string>("model");
  const auto place = base::checkpoint_place(model, line.has("adapter") ? line.get<std::string>("adapter") : "");
  const auto files = base::read_checkpoint_files(place, base::CheckpointPart::all_files);
  const auto tokenizer = tokenizer::Tokenizer::from_files(files);
  tokenizer.log_warnings();
  const auto engine = engine::make_engine(settings, files, tokenizer);
  ChatPrompts chats(model, tokenizer);
  const auto write_chat = [&](std::span<const query::Message> messages, const std::string& chat) {
    return chats.write(messages, chat);
  };
  const auto answer = [&](const std::string& text, std::string& out) {
    const auto asked = query::parse_line(text, write_chat);
    const auto answered = engine->answer({&asked.query, 1}).at(0);
    const auto* error = std::get_if<query::QueryError>(&answered);
    if (error != nullptr) {
      throw base::InputError(error->message);
    }
    out += query::format_answer(answered, asked.details);
  };
  const auto code = answer_lines(answer, tokenizer::to_valid_utf8, 0);
  if (base::profile::is_enabled()) {
    std::cerr << base::profile::report();
  }
  return code;
}

}  // namespace

const Command parse_command{
    "parse", "sampled answers -> ratings, keywords, reasons",
    "stereosweep parse: one JSON line for each of standard input. {\"kind\":\"rating\",\"text\":\"..\",\"low\":1,"
    "\"high\":5} (or \"options\":[..]), {\"kind\":\"ratings\",\"items\":[..],..}, "
    "{\"kind\":\"keywords\",\"text\":\"..\","
    "\"most\":10}, {\"kind\":\"reasons\",\"keywords\":[..],\"text\":\"..\"}; \"finished\":false: the text was cut "
    "off",
    execute_parse};

const Command tokenize_command{
    "tokenize",
    "lines of text -> ids and byte offsets",
    "stereosweep tokenize --model DIR: one line {\"ids\":[..],\"offsets\":[[start,end],..]} for each line of "
    "standard input (offsets in bytes)",
    execute_tokenize,
    Places::none,
    "",
    add_tokenize_options};

const Command query_command{"query",
                            "JSON queries -> log-probabilities, vectors",
                            "stereosweep query: JSON queries on standard input, answers on standard output",
                            execute_query,
                            Places::none,
                            "",
                            add_query_options};

}  // namespace stereosweep::app
