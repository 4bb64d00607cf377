#include "readers/Readers.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "answers/AnswerJson.hpp"
#include "answers/text/PlainText.hpp"
#include "base/Error.hpp"
#include "base/files/File.hpp"
#include "base/files/gguf/Gguf.hpp"
#include "chat/TemplateSource.hpp"
#include "config/JobLoader.hpp"
#include "config/axes/Tables.hpp"
#include "config/yaml/Yaml.hpp"
#include "corpus/StaticVectors.hpp"
#include "model/checkpoint/Safetensors.hpp"
#include "model/elmo/ElmoCheckpoint.hpp"
#include "model/families/Families.hpp"
#include "probes/coreference/Coreference.hpp"
#include "query/QueryJson.hpp"
#include "results/Journal.hpp"
#include "support/RegisteredProbes.hpp"
#include "support/TemporaryDirectory.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::readers {
namespace {

void require(bool holds, const char* what) {
  if (!holds) {
    throw std::logic_error(what);
  }
}

void refuse_where(const base::Problems& problems) { problems.raise_if_any("refused"); }

std::filesystem::path written(const testing::TemporaryDirectory& directory, const std::string& name,
                              std::string_view bytes) {
  const auto path = directory / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

base::FileSet one_file(const std::string& name, std::string_view bytes) {
  base::FileSet files("a checkpoint");
  files.add(name, base::to_shared(std::string(bytes)));
  return files;
}

void read_safetensors(std::string_view bytes) {
  const auto tensors = model::parse_safetensors(base::to_shared(std::string(bytes)), "model.safetensors");
  for (const auto& [name, tensor] : tensors) {
    require(tensor.offset <= bytes.size() && tensor.num_bytes <= bytes.size() - tensor.offset,
            "a tensor lies outside of its file");
    std::uint64_t numbers = 1;
    for (const auto size : tensor.shape) {
      numbers *= static_cast<std::uint64_t>(size);
    }
    require(numbers * c10::elementSize(tensor.type) == tensor.num_bytes, "a shape without its bytes");
  }
}

// A whole file as a run reads it: settings, tokenizer, some numbers of each tensor.
void use_tokenizer(const tokenizer::Tokenizer& tokenizer);
void read_gguf_file(std::string_view bytes) {
  const auto content = base::to_shared(std::string(bytes));
  const auto file = base::read_gguf(content, "model.gguf");
  for (const auto& [name, tensor] : file.tensors) {
    require(tensor.offset <= bytes.size() && tensor.num_bytes <= bytes.size() - tensor.offset,
            "a tensor lies outside of its file");
  }
  base::FileSet files("model.gguf");
  for (const auto& [name, text] : base::make_small_files(file, content)) {
    files.add(name, base::to_shared(text));
  }
  model::read_causal_specification(files);
  for (const auto& [name, tensor] : model::read_gguf_tensors(content, "model.gguf")) {
    std::vector<float> numbers(static_cast<std::size_t>(std::min<std::int64_t>(tensor.count(), 300)));
    model::read_numbers(tensor, tensor.count() - static_cast<std::int64_t>(numbers.size()), numbers);
  }
  use_tokenizer(tokenizer::Tokenizer::from_files(files));
}

void read_config(std::string_view bytes) {
  const auto files = one_file("config.json", bytes);
  if (model::is_causal(files)) {
    model::read_causal_specification(files);
  } else {
    model::read_masked_specification(files);
  }
}

// What a text becomes, and that tokens point into it.
void use_tokenizer(const tokenizer::Tokenizer& tokenizer) {
  const std::string text = "The nurse said hello, ab  x1\xc3\xa9\xe2\x96\x81\n";
  const auto encoding = tokenizer.encode(text, tokenizer::SpecialTokens::add);
  require(encoding.ids.empty() || encoding.ids.size() == encoding.offsets.size(), "a token without its place");
  for (const auto& span : encoding.offsets) {
    require(span.begin <= span.end && span.end <= text.size(), "a token outside of its text");
  }
  tokenizer.decode(encoding.ids, tokenizer::Tokenizer::Special::keep);
}

void read_tokenizer(std::string_view bytes) {
  use_tokenizer(tokenizer::Tokenizer::from_files(one_file("tokenizer.json", bytes)));
}

void read_sentencepiece(std::string_view bytes) {
  auto files = one_file("tokenizer.model", bytes);
  files.add("tokenizer_config.json", base::to_shared(R"({"add_bos_token": true, "add_eos_token": false})"));
  use_tokenizer(tokenizer::Tokenizer::from_files(files));
}

void read_yaml(std::string_view bytes) {
  base::Problems problems;
  const auto node = config::parse_yaml(bytes, "job.yaml", problems);
  refuse_where(problems);
  const auto text = config::emit_yaml(node);
  const auto again = config::parse_yaml(text, "emitted", problems);
  refuse_where(problems);
  require(config::emit_yaml(again) == text, "a tree that is not read back as it was written");
}

void read_job(std::string_view bytes) { config::load_resolved(bytes, "job.yaml"); }

void read_table(std::string_view bytes) {
  const testing::TemporaryDirectory directory;
  base::Problems problems;
  const auto table = config::read_table(written(directory, "table.tsv", bytes), problems);
  refuse_where(problems);
  for (const auto& row : table.rows) {
    require(row.size() == table.columns.size(), "a row with missing cells");
  }
}

void read_journal(std::string_view bytes) {
  const testing::TemporaryDirectory directory;
  written(directory, "journal/20260101T000000Z-00000000.log", bytes);
  results::JournalStore::holds_blocks(directory.path());
  const auto journal = results::JournalStore::open(directory.path());
  for (const auto& record : journal.records()) {
    require(journal.read(record).size() == record.size, "a payload of another size");
  }
  base::refuse_if(journal.records().empty(), "the journal holds no block", "nothing could be read");
}

void read_winobias(std::string_view bytes) {
  base::Problems problems;
  probes::coreference::CoreferenceSentence entry;
  entry.text = bytes;
  const auto sentence =
      probes::coreference::read_marked(entry, {"sentences.txt", 1, ""}, {"developer", "designer", "nurse"}, problems);
  refuse_where(problems);
  require(sentence.has_value(), "neither a sentence nor a problem");
  probes::coreference::without_gender(probes::coreference::marked_text(*sentence));
}

void read_answer(std::string_view bytes) {
  require(answers::parse_line(bytes).find('\n') == std::string::npos, "an answer of several lines");
}

void read_query(std::string_view bytes) {
  query::parse_line(bytes, [](std::span<const query::Message> messages, const std::string&) {
    std::string prompt;
    for (const auto& message : messages) {
      prompt += message.role + ": " + message.content + "\n";
    }
    return prompt;
  });
}

// The first byte says which of the formats.
void read_word_vectors(std::string_view bytes) {
  using Format = corpus::StaticVectors::Format;
  constexpr Format formats[] = {Format::word2vec_text, Format::word2vec_binary, Format::glove_text};
  base::refuse_if(bytes.empty(), "no bytes", "the first one names the format");
  const testing::TemporaryDirectory directory;
  const auto path = written(directory, "vectors", bytes.substr(1));
  corpus::format_of_vectors(path);
  const std::vector<std::string> words = {"woman", "man", "New York"};
  const auto table =
      corpus::read_vectors({path.string(), formats[static_cast<unsigned char>(bytes.front()) % 3]}, words);
  require(table.words.size() == words.size(), "a word neither found nor missing");
  for (const auto& [word, vector] : table.words) {
    require(vector.empty() || std::ssize(vector) == table.dimension, "vectors of another size");
  }
}

void read_chat_template(std::string_view bytes) {
  const testing::TemporaryDirectory directory;
  written(directory, "tokenizer_config.json", bytes);
  const auto found = chat::find_template(directory.path(), "");
  base::refuse_if(!found, "no template", "the file has none");
}

void read_elmo_options(std::string_view bytes) { model::read_elmo_options(one_file("options.json", bytes)); }

constexpr std::string_view elmo_options =
    R"({"lstm": {"use_skip_connections": true, "projection_dim": 2, "cell_clip": 3,
"proj_clip": 3, "dim": 4, "n_layers": 1}, "char_cnn": {"activation": "relu", "filters": [[1, 2]], "n_highway": 1,
"embedding": {"dim": 2}, "n_characters": 262, "max_characters_per_token": 50}})";

void read_elmo_weights(std::string_view bytes) {
  auto files = one_file("options.json", elmo_options);
  files.add("weights.hdf5", base::to_shared(std::string(bytes)));
  model::read_elmo_tensors(files, model::read_elmo_options(files));
}

}  // namespace

std::span<const Reader> all_readers() {
  static const std::vector<Reader> all = {
      {"answer", read_answer},
      {"chat_template", read_chat_template},
      {"config", read_config},
      {"elmo_options", read_elmo_options},
      {"elmo_weights", read_elmo_weights},
      {"gguf", read_gguf_file},
      {"job", read_job},
      {"journal", read_journal},
      {"query", read_query},
      {"safetensors", read_safetensors},
      {"sentencepiece", read_sentencepiece},
      {"table", read_table},
      {"tokenizer", read_tokenizer},
      {"winobias", read_winobias},
      {"word_vectors", read_word_vectors},
      {"yaml", read_yaml},
  };
  return all;
}

Outcome read_with(const Reader& reader, std::string_view bytes) {
  try {
    reader.read(bytes);
    return Outcome::taken;
  } catch (const base::Error&) {
    return Outcome::refused;
  }
}

}  // namespace stereosweep::readers
