#include "probes/contexts/vectors/ContextSource.hpp"

#include <algorithm>
#include <chrono>
#include <ranges>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/Log.hpp"
#include "base/Packing.hpp"
#include "base/Random.hpp"
#include "base/process/Environment.hpp"
#include "base/text/Text.hpp"
#include "corpus/Collect.hpp"
#include "corpus/StaticVectors.hpp"
#include "engine/EngineFactory.hpp"
#include "parallel/Communicator.hpp"
#include "results/Journal.hpp"
#include "results/Seal.hpp"
#include "sweep/Composer.hpp"
#include "sweep/Wording.hpp"

namespace stereosweep::probes::contexts {
namespace {

using base::with_thousands;
using parallel::coordinated;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr std::size_t words_per_line = 8;
constexpr std::string_view table_magic = "stereosweep-vectors/1";

// Sentences made of templates.

class Generator {
 public:
  Generator(const Contexts& settings, std::uint64_t seed) : corpus_(settings.contextual().corpus), seed_(seed) {
    for (const auto& label : frame_labels(corpus_)) {
      const auto place = frames_.size();
      frames_.push_back({corpus_.templates[place / corpus_.rephrasings.size()],
                         corpus_.rephrasings[place % corpus_.rephrasings.size()], label, draw_name(label)});
    }
    std::unordered_map<std::string, std::uint32_t> places;
    for (const auto& text : list_words(settings.tests)) {
      places.emplace(text, static_cast<std::uint32_t>(words_.size()));
      words_.push_back({text, draw_name(text), subject_of(text, settings.subjects)});
    }
    for (const auto& test : settings.tests) {
      std::array<std::vector<std::uint32_t>, 2> kinds;
      for (std::size_t set = 0; set < test.sets().size(); ++set) {
        std::ranges::transform(test.sets()[set]->words, std::back_inserter(kinds[set < 2 ? group : trait]),
                               [&](const auto& word) { return places.at(word); });
      }
      for (const auto place : {group, trait}) {
        const auto& partners = kinds[place == group ? trait : group];
        for (const auto word : kinds[place]) {
          words_[word].partners[place].insert(partners.begin(), partners.end());
        }
      }
    }
  }

  corpus::Sample take() const {
    corpus::Sample sample;
    sample.max_contexts = static_cast<std::uint64_t>(corpus_.max_contexts);
    for (const auto& word : words_) {
      auto sentences = sentences_of(word);
      sample.lines += static_cast<std::uint64_t>(std::ranges::count(sentences, group, &Sentence::place));
      auto& found = sample.words.emplace_back(corpus::WordSample{word.text, sentences.size(), {}});
      deal(sentences);
      sentences.resize(std::min<std::uint64_t>(sentences.size(), sample.max_contexts));
      found.contexts = base::mapped(sentences, [&](const auto& sentence) { return compose(word, sentence); });
      std::ranges::sort(found.contexts, corpus::comes_before);
    }
    return sample;
  }

 private:
  /// A template in a rephrasing.
  struct Frame {
    const sweep::Template& sentence;
    const sweep::Rephrasing& rephrasing;
    std::string label;
    std::uint32_t name;  ///< in draws
  };

  /// Where a word stands in a frame, beside a word of the other kind.
  enum Place : std::uint8_t { group, trait };
  struct Sentence {
    std::uint64_t key = 0;
    Place place = group;
    std::uint32_t frame = 0;
    std::uint32_t partner = 0;  ///< index in the list of words
  };

  struct Word {
    std::string text;
    std::uint32_t name;  ///< in draws
    sweep::Subject subject;
    std::array<std::set<std::uint32_t>, 2> partners = {};  ///< by the word's place
  };

  /// Sorts them; keys then begin with the place among those of the frame, so that frames have equally many in a sample.
  static void deal(std::vector<Sentence>& sentences) {
    const auto order = [](const auto& sentence) {
      return std::tuple(sentence.key, sentence.place, sentence.frame, sentence.partner);
    };
    std::ranges::sort(sentences, {}, order);
    std::unordered_map<std::uint32_t, std::uint64_t> of_frame;
    for (auto& sentence : sentences) {
      sentence.key = of_frame[sentence.frame]++ << 32U | sentence.key >> 32U;
    }
    std::ranges::sort(sentences, {}, order);
  }

  /// As the composer wants it; any other word stands as it is, whatever form a template asks for.
  static sweep::Subject subject_of(const std::string& word, const std::vector<TargetSubject>& subjects) {
    const auto known = std::ranges::find(subjects, word, &TargetSubject::word);
    sweep::Subject subject;
    subject.label = subject.singular = subject.plural = word;
    if (known == subjects.end()) {
      subject.article = sweep::indefinite_article(word);
      return subject;
    }
    subject.article = known->article;
    (known->form == sweep::NounForm::plural ? subject.singular : subject.plural).clear();
    return subject;
  }

  /// With the keys of the draw.
  std::vector<Sentence> sentences_of(const Word& word) const {
    std::vector<Sentence> sentences;
    for (std::uint32_t frame = 0; frame < frames_.size(); ++frame) {
      const bool is_singular = frames_[frame].sentence.form == sweep::NounForm::singular;
      for (const auto place : {group, trait}) {
        const auto own = base::random_bits(seed_, std::uint64_t{word.name} << 1U | place, frames_[frame].name);
        for (const auto partner : word.partners[place]) {
          const auto& subject = (place == group ? word : words_[partner]).subject;
          if (!(is_singular ? subject.singular : subject.plural).empty()) {
            sentences.push_back({base::mix_bits(own ^ words_[partner].name), place, frame, partner});
          }
        }
      }
    }
    return sentences;
  }

  corpus::Context compose(const Word& word, const Sentence& sentence) const {
    const auto& frame = frames_[sentence.frame];
    const auto& partner = words_[sentence.partner];
    const bool is_target = sentence.place == group;
    const auto context = sweep::compose((is_target ? word : partner).subject, frame.sentence, frame.rephrasing, "");
    auto text = sweep::with_trait(context, (is_target ? partner : word).text);
    const auto after_trait = text.size() - context.after.size();
    base::Span span{context.before.size(), after_trait};
    if (is_target) {
      const auto moved = context.group_side == sweep::GroupSide::before_trait ? 0 : after_trait;
      span = {context.group_span.begin + moved, context.group_span.end + moved};
    }
    return {std::move(text), span, sentence.key, frame.label, sentence.partner};
  }

  const Corpus& corpus_;
  std::uint64_t seed_;
  std::vector<Frame> frames_;
  std::vector<Word> words_;
};

// Samples of a run.

/// Collective: all ranks' parts as one sample, on rank zero; one part is on the way at a time. Throws SharedError.
corpus::Sample merge_on_rank_zero(const parallel::Communicator& world, corpus::Sample part) {
  for (int rank = 1; rank < world.size(); ++rank) {
    const auto bytes = world.broadcast(world.rank() == rank ? corpus::encode(part) : std::vector<std::byte>(), rank);
    coordinated(world, [&] {
      part = world.rank() == 0 ? corpus::merge(std::move(part), corpus::decode_sample(bytes)) : std::move(part);
    });
  }
  return part;
}

void log_counts(const corpus::Sample& sample) {
  base::log(base::LogLevel::info, "collect: " + sizes_of(sample) + "; contexts found (kept) per word:");
  const auto items = base::mapped(sample.words, [](const auto& word) {
    return word.word + " " + with_thousands(word.occurrences) + " (" + with_thousands(word.contexts.size()) + ")";
  });
  for (std::size_t i = 0; i < items.size(); i += words_per_line) {
    const auto line = std::span(items).subspan(i, std::min(words_per_line, items.size() - i));
    base::log(base::LogLevel::info, "  " + base::join(line, ", "));
  }
  auto none = sample.words | std::views::filter([](const auto& word) { return word.contexts.empty(); });
  if (!none.empty()) {
    base::log(base::LogLevel::warning,
              "words without a context: " + base::join(base::mapped(none, &corpus::WordSample::word), ", "));
  }
}

/// `sample`: of the files as they lie there now. Lines that were left out come first: they are often the cause.
void require_any_context(const corpus::Sample& sample, const Corpus& corpus) {
  const auto bad = corpus::remarks_on_bad_lines(sample, corpus);
  for (const auto& remark : bad) {
    base::log(base::LogLevel::warning, "collect: " + remark);
  }
  if (std::ranges::all_of(sample.words, [](const auto& word) { return word.contexts.empty(); })) {
    base::refuse("no word of the tests occurs in the corpus",
                 base::counted(sample.lines, "line") + " in " + base::counted(sample.files, "file") + " were read" +
                     (bad.empty() ? "" : "; " + base::join(bad, "; ")),
                 bad.empty() ? "see the corpus's keys field, boundary and case" : "");
  }
}

/// Of a job whose sample needs no file: made anew by every rank and every start, which takes less time than reading it.
std::optional<corpus::Sample> make_sample(const sweep::Job& job) {
  const auto& settings = job.settings<Contexts>();
  if (settings.is_static() && settings.needs_model()) {
    return static_sample(list_words(settings.tests), nullptr);
  }
  if (!settings.is_generated()) {
    return std::nullopt;
  }
  auto sample = generate_contexts(settings, job.seed);
  base::refuse_if(sample.lines == 0, "no template asks for the form of the tests' targets",
                  "form: plural takes templates with a plural, form: singular with a singular",
                  "Name other templates, or another form.");
  return sample;
}

/// Rank zero's bytes of a new sample; empty on the others.
std::vector<std::byte> scan_corpus(const StageRequest& job) {
  const auto& settings = job.job.settings<Contexts>();
  if (job.leads()) {
    job.show_step("collect");
  }
  const Seconds interval(base::seconds_from_environment("STEREOSWEEP_PROGRESS_S", 10));
  auto last = Clock::now();
  const auto report = [&](const corpus::Progress& progress) {
    if (!job.leads() || Clock::now() - last < interval) {
      return;
    }
    last = Clock::now();
    base::log(base::LogLevel::info, "collect: " + with_thousands(progress.bytes_done) + " of " +
                                        with_thousands(progress.bytes_total) +
                                        " bytes of this rank's part of the corpus");
    job.show_step("");
  };
  const corpus::Shard shard{static_cast<std::uint64_t>(job.world.rank()), static_cast<std::uint64_t>(job.world.size())};
  auto part = coordinated(job.world, [&] {
    return corpus::collect(settings.contextual().corpus, list_words(settings.tests), job.job.seed, shard, report);
  });
  const auto sample = merge_on_rank_zero(job.world, std::move(part));
  return coordinated(job.world, [&] {
    if (!job.leads()) {
      return std::vector<std::byte>();
    }
    require_any_context(sample, settings.contextual().corpus);
    log_counts(sample);
    return corpus::encode(sample);
  });
}

/// What OUT/contexts.sample holds, or what was made; nothing where it is not of this job.
std::optional<ContextSource> open_source(std::span<const std::byte> bytes, const sweep::Job& job,
                                         const base::FileSet& files) {
  const auto& settings = job.settings<Contexts>();
  ContextSource source;
  source.digest = base::Sha256().update(bytes).finish();
  corpus::Sample sample;
  bool fits = true;
  if (settings.needs_model()) {
    sample = corpus::decode_sample(bytes);
    source.dimension = engine::vector_width(job.execution.engine, files, asked_of(settings));
    fits = settings.is_static() ||
           sample.max_contexts == static_cast<std::uint64_t>(settings.contextual().corpus.max_contexts);
  } else {
    base::ByteReader in(bytes);
    if (in.text() != table_magic) {
      return std::nullopt;
    }
    StaticTable rows;
    base::unpack(in, std::tie(source.dimension, rows));
    fits = std::ranges::all_of(
        rows, [&](const auto& row) { return row.vector.empty() || row.vector.size() == source.dimension; });
    sample = static_sample(base::mapped(rows, &corpus::WordVector::word), &rows);
    source.table = std::make_shared<const StaticTable>(std::move(rows));
  }
  if (!fits || !std::ranges::equal(sample.words, list_words(settings.tests), {}, &corpus::WordSample::word)) {
    return std::nullopt;
  }
  source.sample = std::make_shared<const corpus::Sample>(std::move(sample));
  return source;
}

/// Rank zero reads the file of vectors; OUT/contexts.sample keeps them behind a magic text and the dimension.
std::vector<std::byte> read_table(const sweep::Job& job) {
  const auto& settings = job.settings<Contexts>();
  const auto words = list_words(settings.tests);
  const auto table = corpus::read_vectors(settings.from_table(), words);
  const auto missing = table.missing();
  base::log(base::LogLevel::info, "vectors: " + with_thousands(words.size() - missing.size()) + " of " +
                                      base::counted(words.size(), "word") + " are among the " +
                                      with_thousands(table.rows) + " of " + settings.from_table().file + ", " +
                                      std::to_string(table.dimension) + " dimensions");
  if (!missing.empty()) {
    base::log(base::LogLevel::warning, "words without a vector: " + base::join(missing, ", ") +
                                           (table.remark.empty() ? "" : "; " + table.remark));
  }
  if (missing.size() == words.size()) {
    const auto shown = table.first_word.substr(0, 60);
    const auto valid = shown.substr(0, base::find_invalid_utf8(shown).value_or(shown.size()));
    base::refuse("no word of the tests has a vector in '" + settings.from_table().file + "'",
                 base::counted(table.rows, "word") + " were read, the first is " + base::json_quote(valid),
                 table.remark);
  }
  return base::packed(std::tuple(table_magic, static_cast<std::uint64_t>(table.dimension), table.words));
}

/// What differs; empty where nothing does, or where that cannot be told any more.
std::string changes_since(const SourceFile& kept, const Contexts& settings) {
  try {
    return corpus::changes(kept.files, input_states(settings));
  } catch (const base::InputError& error) {
    base::log(base::LogLevel::warning, std::string("what is kept in contexts.sample cannot be compared with the files "
                                                   "it was read from, and is used as it is: ") +
                                           error.what());
    return "";
  }
}

/// Rank zero: what contexts.sample holds, where it is of this job.
std::optional<SourceFile> read_kept(const StageRequest& job) {
  auto kept = read_source_file(job.directory / sample_file);
  return kept && open_source(kept->content, job.job, job.files) ? std::move(kept) : std::nullopt;
}

/// Rank zero: blocks that were scored from other contexts cannot be continued.
void require_no_blocks(const StageRequest& job, const std::string& changes) {
  for (const auto* stage : {vectors_stage, effects_stage}) {
    if (!results::JournalStore::open(job.directory, stage).attempts().empty()) {
      job.keep_earlier_end();
      base::refuse(
          "contexts.sample: what this run was started with is not what lies there now", changes,
          "Put the files back, give another --output, or start anew with --overwrite; --reuse takes over what both "
          "share.");
    }
  }
}

/// Rank zero's bytes of what the files hold now; empty on the others. Collective.
std::vector<std::byte> read_files(const StageRequest& job) {
  if (!job.job.settings<Contexts>().is_static()) {
    return scan_corpus(job);
  }
  return coordinated(job.world, [&] { return job.leads() ? read_table(job.job) : std::vector<std::byte>(); });
}

constexpr std::string_view source_magic = "stereosweep-source/1";
constexpr std::string_view words_magic = "stereosweep-words/1";

}  // namespace

std::vector<std::string> frame_labels(const Corpus& corpus) {
  std::vector<std::string> labels;
  for (const auto& sentence : corpus.templates) {
    for (const auto& rephrasing : corpus.rephrasings) {
      labels.push_back(sentence.label + ", " + rephrasing.label);
    }
  }
  return labels;
}

corpus::Sample generate_contexts(const Contexts& settings, std::uint64_t seed) {
  return Generator(settings, seed).take();
}

std::string sizes_of(const corpus::Sample& sample) {
  if (sample.files == 0) {
    return base::counted(sample.lines, "sentence") + " made of templates";
  }
  return base::counted(sample.files, "file") + ", " + base::counted(sample.lines, "line") + ", " +
         base::counted(sample.bytes, "byte");
}

corpus::Sample sample_of(const sweep::Job& job) {
  if (auto made = make_sample(job)) {
    return std::move(*made);
  }
  const auto& settings = job.settings<Contexts>();
  return corpus::collect(settings.contextual().corpus, list_words(settings.tests), job.seed);
}

std::vector<corpus::FileState> input_states(const Contexts& settings) {
  if (settings.is_generated() || (settings.is_static() && settings.needs_model())) {
    return {};
  }
  return settings.is_static() ? std::vector{corpus::state_of(settings.from_table().file)}
                              : corpus::file_states(settings.contextual().corpus);
}

std::optional<ContextSource> read_source(const std::filesystem::path& directory, const sweep::Job& job,
                                         const base::FileSet& files) {
  if (const auto made = make_sample(job)) {
    return open_source(corpus::encode(*made), job, files);
  }
  const auto kept = read_source_file(directory / sample_file);
  return kept ? open_source(kept->content, job, files) : std::nullopt;
}

ContextSource collect_contexts(const StageRequest& job) {
  const auto& settings = job.job.settings<Contexts>();
  std::optional<ContextSource> made;
  std::optional<SourceFile> kept;  // rank zero, as what follows
  std::string changes;
  SourceFile source;
  coordinated(job.world, [&] {
    if (settings.needs_model()) {  // what the model cannot answer is refused before the corpus is read
      engine::vector_width(job.job.execution.engine, job.files, asked_of(settings));
    }
    if (const auto sample = make_sample(job.job)) {
      made = open_source(corpus::encode(*sample), job.job, job.files);
    } else if (job.leads()) {
      kept = read_kept(job);
      changes = kept ? changes_since(*kept, settings) : "";
      if (!changes.empty()) {
        base::log(base::LogLevel::warning,
                  "files were changed since contexts.sample was made (" + changes + "): they are read again");
      }
      source = kept && changes.empty() ? *kept : SourceFile{{}, input_states(settings)};
    }
    if (job.leads() && settings.is_generated()) {
      log_counts(*made->sample);
    }
  });
  if (made) {
    return std::move(*made);
  }
  std::vector<std::byte> unsaved;
  if (!job.world.broadcast(kept && changes.empty(), 0)) {
    source.content = read_files(job);
    coordinated(job.world, [&] {
      if (job.leads()) {
        if (kept && kept->content != source.content) {
          require_no_blocks(job, changes);
        }
        unsaved = encode(source);
      }
    });
  }
  const auto bytes = job.world.broadcast(std::move(source.content), 0);
  return coordinated(job.world, [&] {
    auto found = *open_source(bytes, job.job, job.files);
    found.unsaved = std::move(unsaved);
    return found;
  });
}

std::vector<std::byte> encode(const SourceFile& source) {
  base::ByteWriter out;
  base::pack(out, std::tie(source_magic, source.files));
  return out.raw(source.content).take();
}

SourceFile decode_source(std::span<const std::byte> bytes) {
  base::ByteReader in(bytes);
  base::fail_if(in.text() != source_magic, "a list of contexts cannot be read",
                "another version of this program wrote it");
  SourceFile source;
  base::unpack(in, source.files);
  source.content.assign(in.rest().begin(), in.rest().end());
  return source;
}

std::optional<SourceFile> read_source_file(const std::filesystem::path& file) {
  const auto bytes = results::read_sealed(file);
  if (!bytes) {
    return std::nullopt;
  }
  try {
    return decode_source(*bytes);
  } catch (const base::Error& error) {
    base::log(base::LogLevel::warning, "'" + file.string() + "': " + error.what() + ": a run makes it anew");
    return std::nullopt;
  }
}

auto fields_of(base::Either<WordVectors> auto& word) {
  return std::tie(word.word, word.found, word.stored, word.usable,
                  word.digest);  // without frames: a sample may have none
}
auto fields_of(base::Either<WordsFile> auto& content) {
  return std::tie(content.settings, content.dimension, content.cost, content.words);
}

std::vector<std::byte> encode(const WordsFile& content) {
  base::ByteWriter out;
  base::pack(out, std::tie(words_magic, content));
  if (std::ranges::any_of(content.words, [](const auto& word) { return !word.frames.empty(); })) {
    for (const auto& word : content.words) {
      base::pack(out, word.frames);
    }
  }
  return out.take();
}

WordsFile decode_words(std::span<const std::byte> bytes) {
  base::ByteReader in(bytes);
  base::fail_if(in.text() != words_magic, "a list of words cannot be read", "another version of this program wrote it");
  WordsFile content;
  base::unpack(in, content);
  if (!in.rest().empty()) {
    for (auto& word : content.words) {
      base::unpack(in, word.frames);
    }
  }
  return content;
}

std::optional<WordsFile> read_words(const std::filesystem::path& file) {
  const auto bytes = results::read_sealed(file);
  return bytes ? std::optional(decode_words(*bytes)) : std::nullopt;
}

}  // namespace stereosweep::probes::contexts
