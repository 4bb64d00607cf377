#include "run/ContextsRun.hpp"

#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/Text.hpp"
#include "parallel/Communicator.hpp"
#include "results/Reader.hpp"
#include "run/Environment.hpp"
#include "run/ExportDirectory.hpp"
#include "run/SealedFile.hpp"
#include "run/StoreAccess.hpp"

namespace stereosweep::run {
namespace {

using parallel::coordinated;

/// The journal's blocks as a store: read one by one, in order.
std::vector<probe::WordVectors> write_store(const std::filesystem::path& file, const probe::VectorsProbe& probe,
                                            const results::JournalStore& journal, const Lease& lease) {
  probe::VectorStoreWriter writer(file, probe.words(), probe.dimension());
  const auto contexts = probe.schema().outer_axes[1].labels.size();
  for (std::uint64_t index = 0; index < probe.blocks().num_blocks(); ++index) {
    const auto block = probe.blocks().block(index);
    const auto* record = journal.find_block(index);
    if (record == nullptr) {
      throw base::Error(base::describe("the journal lacks block " + std::to_string(index), "it was complete before"));
    }
    const auto payload = journal.read(*record);
    base::ByteReader in(payload);
    const auto raw = probe::RawBlock::read(in, probe.schema(), block.num_contexts);
    const auto& status = std::get<std::vector<std::uint8_t>>(raw.columns[2]);
    const std::span<const float> vectors(std::get<std::vector<float>>(raw.columns[0]));
    for (std::size_t i = 0; i < status.size(); ++i) {
      if (status[i] == static_cast<std::uint8_t>(probe::VectorStatus::ok)) {
        writer.add((block.first_context + i) / contexts, vectors.subspan(i * probe.dimension(), probe.dimension()));
      }
    }
  }
  lease.check();
  return writer.finish();
}

const char* name_of(domain::Contexts::Keep keep) {
  return keep == domain::Contexts::Keep::none      ? "none"
         : keep == domain::Contexts::Keep::float16 ? "float16"
                                                   : "float32";
}

}  // namespace

RunSettings effects_settings(const RunSettings& settings, const WordsFile& words) {
  auto comparable = words;
  comparable.cost = {};
  base::Sha256 hash;
  hash.update(encode(comparable));
  return with_field(settings, "contexts.words", base::to_hex(hash.finish()));
}

base::ExitCode ContextsRun::run() {
  open_vectors();
  find_words();
  if (!words_) {
    if (const auto end = score_vectors(); end != base::ExitCode::done) {
      return end;
    }
    build_store();
  }
  open_effects(nullptr);
  const bool wants_vectors_file = job_.world.broadcast(job_.leads() && vectors_file_is_wanted(), 0);
  if (!effects_->complete() || wants_vectors_file) {
    const bool has_store = job_.world.broadcast(job_.leads() && store_is_intact(), 0);
    if ((!effects_->complete() && !has_store) || (wants_vectors_file && !vectors_->complete())) {
      if (const auto end = score_vectors(); end != base::ExitCode::done) {
        return end;
      }
      build_store();
    }
  }
  if (!effects_->complete()) {
    if (const auto end = score_effects(); end != base::ExitCode::done) {
      return end;
    }
  }
  finish();
  return base::ExitCode::done;
}

void ContextsRun::open_vectors() {
  const auto source = collect_contexts(job_);
  vectors_probe_ =
      std::make_shared<const probe::VectorsProbe>(job_.job(), source.sample, source.dimension, source.table);
  vectors_.emplace(job_, StageSpec{vectors_stage,
                                   vectors_probe_,
                                   source.table ? StageSpec::Asks::nothing : StageSpec::Asks::engine,
                                   with_field(job_.settings, "contexts.sample", base::to_hex(source.digest)),
                                   {}});
  vectors_->open();
  coordinated(job_.world, [&] {
    if (!source.unsaved.empty()) {
      job_.lease->check();
      write_sealed(job_.directory.context_sample(), source.unsaved);
    }
  });
}

/// Of an earlier attempt.
void ContextsRun::find_words() {
  const auto bytes = coordinated(job_.world, [&] {
    const auto found = job_.leads() ? read_words(job_.directory.words()) : std::nullopt;
    return found && found->settings == vectors_->spec().settings.text ? encode(*found) : std::vector<std::byte>();
  });
  const auto agreed = job_.world.broadcast(bytes, 0);
  if (!agreed.empty()) {
    words_ = decode_words(agreed);
  }
}

base::ExitCode ContextsRun::score_vectors() {
  if (vectors_->complete()) {
    return base::ExitCode::done;
  }
  scored_ = true;
  const auto end = vectors_->score();
  if (end == base::ExitCode::done) {
    job_.stop_at_once_on_signal();
  }
  return end;
}

/// Rank zero, for all; the words are then known everywhere.
void ContextsRun::build_store() {
  const auto bytes = coordinated(job_.world, "build_store", [&] {
    if (!job_.leads()) {
      return std::vector<std::byte>();
    }
    job_.status->update([](RunStatus& status) { status.state = "exporting"; });
    job_.lease->check();
    const auto& journal = vectors_->reread();
    WordsFile words{vectors_->spec().settings.text, vectors_probe_->dimension(), journal.cost(),
                    write_store(job_.directory.vector_store(), *vectors_probe_, journal, *job_.lease)};
    if (words_ && !(*words_ == words)) {
      throw base::Error(base::describe("the vectors computed anew are not those of the first time",
                                       "other hardware or libraries give other last bits",
                                       "start anew with --overwrite"));
    }
    job_.lease->check();  // the store may have taken long
    write_words(job_.directory.words(), words);
    return encode(words);
  });
  words_ = decode_words(job_.world.broadcast(bytes, 0));
}

bool ContextsRun::store_is_intact() const {
  const auto file = job_.directory.vector_store();
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return false;
  }
  try {
    probe::VectorStore(file, words_->words, words_->dimension).verify(words_->words);
    return true;
  } catch (const base::InputError& error) {
    base::log(base::LogLevel::warning, std::string(error.what()) + ": building it anew from the journal");
    return false;
  }
}

void ContextsRun::open_effects(std::shared_ptr<const probe::VectorStore> store) {
  auto made = std::make_shared<const probe::EffectsProbe>(job_.job(), words_->words, std::move(store));
  effects_.emplace(job_, StageSpec{effects_stage, std::move(made), StageSpec::Asks::nothing,
                                   effects_settings(vectors_->spec().settings, *words_), words_->cost});
  effects_->open();
}

base::ExitCode ContextsRun::score_effects() {
  const auto store = coordinated(job_.world, "open_store", [&] {
    // rank zero has written or checked it: what it cannot read does not get better
    const Seconds patience(job_.leads() ? 0 : seconds_from_environment("STEREOSWEEP_FILE_TIMEOUT_S", 60));
    return open_store(job_.directory.vector_store(), words_->words, words_->dimension, patience);
  });
  open_effects(store);
  scored_ = true;
  const auto end = effects_->score();
  if (end == base::ExitCode::done) {
    job_.stop_at_once_on_signal();
  }
  return end;
}

/// Rank zero: whether contexts.vectors.h5 is missing, damaged, or of another precision.
bool ContextsRun::vectors_file_is_wanted() const {
  const auto keep = job_.job().contexts().keep;
  const auto file = job_.directory.vectors_file();
  if (keep == domain::Contexts::Keep::none) {
    return false;
  }
  if (!job_.exported || !is_whole(file)) {
    return true;
  }
  return results::ResultFile(file).text("keep") != name_of(keep);
}

void ContextsRun::finish() {
  job_.stop_at_once_on_signal();
  coordinated(job_.world, [&] {
    if (!job_.leads()) {
      return;
    }
    const auto file = job_.directory.export_file(job_.job());
    const bool wants_vectors = vectors_file_is_wanted();
    const bool wants_effects = scored_ || !job_.exported || !is_whole(file);
    if (!wants_vectors && !wants_effects) {
      base::log(base::LogLevel::info, job_.job().name + " is complete: nothing to do (" + file.string() + ")");
    } else {
      job_.status->update([](RunStatus& status) { status.state = "exporting"; });
    }
    if (wants_vectors) {
      const auto& journal = vectors_->reread();
      log_summary(vectors_stage, export_vectors(job_.directory, job_.job(), *vectors_probe_, journal, &*job_.lease),
                  journal.cost());
    }
    if (wants_effects) {
      const auto& probe = dynamic_cast<const probe::EffectsProbe&>(*effects_->spec().probe);
      const auto& journal = effects_->reread();
      const auto summary = export_effects(job_.directory, job_.job(), probe, journal, words_->cost, &*job_.lease);
      for (const auto& test : probe.tests()) {
        base::log(test.is_doubtful() ? base::LogLevel::warning : base::LogLevel::info,
                  test.test.label + ": " + test.consequence());
      }
      log_summary(effects_stage, summary, words_->cost);
      print_digest(summary, file);
    }
    job_.write_end("done", "");
    log_next_command(job_.directory.root());
    if (job_.job().contexts().keep == domain::Contexts::Keep::none) {
      remove_vectors();
    }
  });
  job_.remember_signals();
}

/// What keep: none leaves nothing of. The words stay, so that the run is known to be complete.
void ContextsRun::remove_vectors() const {
  job_.lease->check();
  std::filesystem::remove(job_.directory.vector_store());
  std::filesystem::remove(job_.directory.vectors_file());
  std::filesystem::remove_all(results::journal_directory(job_.directory.root(), vectors_stage));
}

}  // namespace stereosweep::run
