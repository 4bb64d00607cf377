#include "run/ContextSample.hpp"

#include <algorithm>
#include <thread>

#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/Text.hpp"
#include "corpus/Collect.hpp"
#include "corpus/StaticVectors.hpp"
#include "engine/EngineFactory.hpp"
#include "parallel/Coordinated.hpp"
#include "parallel/Messenger.hpp"
#include "probe/EmbeddingTests.hpp"
#include "run/Environment.hpp"
#include "run/SealedFile.hpp"
#include "run/Timing.hpp"

namespace stereosweep::run {
namespace {

using base::with_thousands;
using parallel::coordinated;

constexpr std::size_t words_per_line = 8;
constexpr std::string_view table_magic = "stereosweep-vectors/1";

std::vector<std::byte> encode(const corpus::Sample& sample) {
  base::ByteWriter out;
  corpus::write(sample, out);
  return out.take();
}

corpus::Sample decode(std::span<const std::byte> bytes) {
  base::ByteReader in(bytes);
  return corpus::read(in);
}

base::Digest digest_of(std::span<const std::byte> bytes) {
  base::Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

bool fits(const corpus::Sample& sample, const domain::Contexts& settings) {
  const auto words = probe::list_words(settings.tests);
  return sample.max_contexts == static_cast<std::uint64_t>(settings.contextual().corpus.max_contexts) &&
         std::ranges::equal(sample.words, words, {}, &corpus::WordSample::word);
}

/// Says now and then how far rank zero's part is.
class ProgressLines {
 public:
  explicit ProgressLines(JobParts& job) : job_(job) {}
  void operator()(const corpus::Progress& progress) {
    if (!job_.leads() || since(last_) < interval_) {
      return;
    }
    last_ = Clock::now();
    base::log(base::LogLevel::info, "collect: " + with_thousands(progress.bytes_done) + " of " +
                                        with_thousands(progress.bytes_total) +
                                        " bytes of this rank's part of the corpus");
    job_.status->update([](RunStatus&) {});
  }

 private:
  JobParts& job_;
  Clock::time_point last_ = Clock::now();
  Seconds interval_{seconds_from_environment("STEREOSWEEP_PROGRESS_S", 10)};
};

/// All ranks' parts as one sample, on rank zero; the others' is returned as it is.
corpus::Sample merge_on_rank_zero(const parallel::Communicator& world, corpus::Sample part) {
  parallel::Messenger messenger(world);
  if (world.rank() != 0) {
    messenger.send(0, 0, encode(part));
    while (!messenger.all_sent()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return part;
  }
  for (int received = 1; received < world.size();) {
    if (const auto message = messenger.poll()) {
      part = corpus::merge(std::move(part), decode(message->bytes));
      ++received;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  return part;
}

void log_bad_lines(const corpus::Sample& sample) {
  for (std::size_t fault = 0; fault < corpus::num_line_faults; ++fault) {
    const auto& bad = sample.bad_lines[fault];
    if (bad.count == 0) {
      continue;
    }
    std::vector<std::string> places;
    for (const auto& line : bad.first) {
      places.push_back(line.file + " at byte " + std::to_string(line.line_offset));
    }
    base::log(base::LogLevel::warning, "collect: " + base::counted(bad.count, "line") + " left out (" +
                                           std::string(corpus::reason_of(static_cast<corpus::LineFault>(fault))) +
                                           "): " + base::join(places, ", "));
  }
}

void log_counts(const corpus::Sample& sample) {
  base::log(base::LogLevel::info, "collect: " + base::counted(sample.files, "file") + ", " +
                                      base::counted(sample.lines, "line") + ", " + base::counted(sample.bytes, "byte") +
                                      "; contexts found (kept) per word:");
  std::vector<std::string> items;
  std::vector<std::string> none;
  for (const auto& word : sample.words) {
    items.push_back(word.word + " " + with_thousands(word.occurrences) + " (" + with_thousands(word.contexts.size()) +
                    ")");
    if (word.contexts.empty()) {
      none.push_back(word.word);
    }
  }
  for (std::size_t i = 0; i < items.size(); i += words_per_line) {
    const auto last = std::min(items.size(), i + words_per_line);
    base::log(base::LogLevel::info, "  " + base::join(std::span(items).subspan(i, last - i), ", "));
  }
  if (!none.empty()) {
    base::log(base::LogLevel::warning, "words without a context: " + base::join(none, ", "));
  }
  log_bad_lines(sample);
}

void require_any_context(const corpus::Sample& sample) {
  if (std::ranges::all_of(sample.words, [](const auto& word) { return word.contexts.empty(); })) {
    throw base::InputError(base::describe(
        "no word of the tests occurs in the corpus",
        base::counted(sample.lines, "line") + " in " + base::counted(sample.files, "file") + " were read",
        "see the corpus's keys field, boundary and case"));
  }
}

/// Rank zero's bytes of a new sample; empty on the others.
std::vector<std::byte> collect_anew(JobParts& job) {
  const auto& settings = job.job().contexts();
  const auto words = probe::list_words(settings.tests);
  if (job.leads()) {
    job.status->update([](RunStatus& status) {
      status.stage = "collect";
      status.state = "running";
    });
  }
  ProgressLines progress(job);
  auto part = coordinated(job.world, [&] {
    return corpus::collect(settings.contextual().corpus, words, job.job().seed,
                           {static_cast<std::uint64_t>(job.world.rank()), static_cast<std::uint64_t>(job.world.size())},
                           [&](const corpus::Progress& now) { progress(now); });
  });
  const auto sample = merge_on_rank_zero(job.world, std::move(part));
  return coordinated(job.world, [&] {
    if (!job.leads()) {
      return std::vector<std::byte>();
    }
    require_any_context(sample);
    log_counts(sample);
    return encode(sample);
  });
}

std::optional<std::vector<std::byte>> kept_sample(const std::filesystem::path& file, const domain::Contexts& settings) {
  auto bytes = read_sealed(file);
  return bytes && fits(decode(*bytes), settings) ? std::move(bytes) : std::nullopt;
}

ContextSource source_of(std::span<const std::byte> bytes, const domain::Job& job, const base::FileSet& files) {
  return {std::make_shared<const corpus::Sample>(decode(bytes)),
          nullptr,
          engine::vector_width(job.execution.engine, files, probe::asked_of(job.contexts())),
          digest_of(bytes),
          {}};
}

/// Words themselves, asked of the model's input embeddings.
ContextSource embeddings_source(const domain::Job& job, const base::FileSet& files) {
  return source_of(encode(probe::static_sample(probe::list_words(job.contexts().tests), nullptr)), job, files);
}

/// Vectors of a file as OUT/contexts.sample keeps them: magic, dimension, then word and vector (empty: none).
std::vector<std::byte> encode(const std::vector<std::string>& words, const corpus::StaticTable& table) {
  base::ByteWriter out;
  out.text(table_magic).number(static_cast<std::uint64_t>(table.dimension)).number(std::uint64_t{words.size()});
  std::size_t row = 0;
  for (const auto& word : words) {
    const bool found = row < table.words.size() && table.words[row] == word;
    const auto dimension = static_cast<std::size_t>(table.dimension);
    out.text(word).array(found ? std::span(table.vectors).subspan(row * dimension, dimension)
                               : std::span<const float>());
    row += found ? 1 : 0;
  }
  return out.take();
}

/// Nothing where the bytes are not of the job's words.
std::optional<ContextSource> table_source(std::span<const std::byte> bytes, const domain::Job& job) {
  const auto words = probe::list_words(job.contexts().tests);
  base::ByteReader in(bytes);
  if (in.text() != table_magic) {
    return std::nullopt;
  }
  const auto dimension = in.number<std::uint64_t>();
  if (in.number<std::uint64_t>() != words.size()) {
    return std::nullopt;
  }
  auto table = std::make_shared<probe::StaticTable>();
  for (const auto& word : words) {
    if (in.text() != word) {
      return std::nullopt;
    }
    table->push_back(in.array<float>());
    if (!table->back().empty() && table->back().size() != dimension) {
      return std::nullopt;
    }
  }
  auto sample = std::make_shared<const corpus::Sample>(probe::static_sample(words, table.get()));
  return ContextSource{std::move(sample), std::move(table), dimension, digest_of(bytes), {}};
}

/// Rank zero reads the file of vectors.
std::vector<std::byte> read_table(const domain::Job& job) {
  const auto& settings = job.contexts();
  const auto words = probe::list_words(settings.tests);
  const auto table = corpus::read_vectors(settings.from_table().file, settings.from_table().format, words);
  base::log(base::LogLevel::info, "vectors: " + with_thousands(table.words.size()) + " of " +
                                      base::counted(words.size(), "word") + " are among the " +
                                      with_thousands(table.rows) + " of " + settings.from_table().file + ", " +
                                      std::to_string(table.dimension) + " dimensions");
  if (!table.missing.empty()) {
    base::log(base::LogLevel::warning, "words without a vector: " + base::join(table.missing, ", "));
  }
  if (table.words.empty()) {
    throw base::InputError(base::describe("no word of the tests has a vector in '" + settings.from_table().file + "'",
                                          base::counted(table.rows, "word") + " were read"));
  }
  return encode(words, table);
}

ContextSource collect_table(JobParts& job) {
  std::vector<std::byte> unsaved;
  auto bytes = coordinated(job.world, [&] {
    if (!job.leads()) {
      return std::vector<std::byte>();
    }
    if (auto kept = read_sealed(job.directory.context_sample()); kept && table_source(*kept, job.job())) {
      return std::move(*kept);
    }
    unsaved = read_table(job.job());
    return unsaved;
  });
  bytes = job.world.broadcast(std::move(bytes), 0);
  auto source = *table_source(bytes, job.job());
  source.unsaved = std::move(unsaved);
  return source;
}

}  // namespace

std::optional<ContextSource> read_source(const RunDirectory& directory, const domain::Job& job,
                                         const base::FileSet& files) {
  const auto& settings = job.contexts();
  if (settings.is_static() && settings.needs_model()) {
    return embeddings_source(job, files);
  }
  if (settings.is_static()) {
    const auto table = read_sealed(directory.context_sample());
    return table ? table_source(*table, job) : std::nullopt;
  }
  const auto bytes = kept_sample(directory.context_sample(), job.contexts());
  return bytes ? std::optional(source_of(*bytes, job, files)) : std::nullopt;
}

ContextSource collect_contexts(JobParts& job) {
  if (job.job().contexts().is_static()) {
    if (!job.job().contexts().needs_model()) {
      return collect_table(job);
    }
    return coordinated(job.world, [&] { return embeddings_source(job.job(), job.scoring->files); });
  }
  const auto file = job.directory.context_sample();
  auto bytes = coordinated(job.world, [&] {
    // what the model cannot answer is refused before the corpus is read
    engine::vector_width(job.job().execution.engine, job.scoring->files, probe::asked_of(job.job().contexts()));
    auto kept = job.leads() ? kept_sample(file, job.job().contexts()) : std::nullopt;
    return kept ? std::move(*kept) : std::vector<std::byte>();
  });
  std::vector<std::byte> unsaved;
  if (job.world.broadcast(std::string(bytes.empty() ? "" : "kept"), 0).empty()) {
    unsaved = collect_anew(job);
    bytes = unsaved;
  }
  bytes = job.world.broadcast(std::move(bytes), 0);
  return coordinated(job.world, [&] {
    auto source = source_of(bytes, job.job(), job.scoring->files);
    source.unsaved = std::move(unsaved);
    return source;
  });
}

}  // namespace stereosweep::run
