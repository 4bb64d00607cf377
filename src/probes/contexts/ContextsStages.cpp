#include <chrono>

#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/process/Environment.hpp"
#include "parallel/Communicator.hpp"
#include "probes/Stage.hpp"
#include "probes/contexts/Contexts.hpp"
#include "probes/contexts/effects/EffectsProbe.hpp"
#include "probes/contexts/vectors/ContextSource.hpp"
#include "probes/contexts/vectors/VectorStore.hpp"
#include "probes/contexts/vectors/VectorsProbe.hpp"
#include "results/Seal.hpp"

namespace stereosweep::probes::contexts {
namespace {

using parallel::coordinated;

/// The journal's blocks as a store: read one by one, in order.
std::vector<WordVectors> write_store(const std::filesystem::path& file, const VectorsProbe& probe,
                                     const results::JournalStore& journal, const StageRequest& request) {
  std::error_code ignored;                 // where it stays, writing the new one says why
  std::filesystem::remove(file, ignored);  // of an earlier start: there is not room for two
  const auto contexts = probe.schema().outer_axes[1].labels.size();
  std::map<std::string, std::uint32_t> places;  // of the files that hold made sentences
  if (const auto& settings = request.job.settings<Contexts>(); settings.is_generated()) {
    for (const auto& label : frame_labels(settings.contextual().corpus)) {
      places.emplace(label, static_cast<std::uint32_t>(places.size()));
    }
  }
  std::vector<std::vector<std::uint32_t>> frames(probe.words().size());
  auto words = write_vectors(file, probe.words(), probe.dimension(), [&](const AddVector& add) {
    for (std::uint64_t index = 0; index < probe.blocks().num_blocks(); ++index) {
      const auto block = probe.blocks().block(index);
      const auto raw = journal.read_block(block, probe.schema());
      base::fail_if(!raw, "the journal lacks block " + std::to_string(index), "it was complete before");
      const auto& status = column_named<std::uint8_t>(*raw, probe.schema(), "status");
      const std::span<const float> vectors(column_named<float>(*raw, probe.schema(), "vector"));
      for (std::size_t i = 0; i < status.size(); ++i) {
        if (status[i] == static_cast<std::uint8_t>(VectorStatus::ok)) {
          const auto word = (block.first_context + i) / contexts;
          add(word, vectors.subspan(i * probe.dimension(), probe.dimension()));
          if (!places.empty()) {
            frames[word].push_back(places.at(probe.file_of(block.first_context + i)));
          }
        }
      }
    }
    request.check_lease();
  });
  for (std::size_t word = 0; word < words.size(); ++word) {
    words[word].frames = std::move(frames[word]);
  }
  return words;
}

class VectorsStage final : public Stage {
 public:
  std::string name() const override { return vectors_stage; }
  Asks asks() const override { return source_.table ? Asks::nothing : Asks::model; }

  std::shared_ptr<const Probe> open(const StageRequest& request, std::span<const std::byte> /*input*/) override {
    source_ = collect_contexts(request);
    return make_probe(request.job);
  }

  std::shared_ptr<const Probe> reopen(const StageRequest& request) override {
    auto source = read_source(request.directory, request.job, request.files);
    source_ = source ? std::move(*source) : ContextSource();
    return source ? make_probe(request.job) : nullptr;
  }

  std::map<std::string, std::string> settings() const override {
    return {{"contexts.sample", base::to_hex(source_.digest)}};
  }

  void journals_agree(const StageRequest& request) override {
    if (!source_.unsaved.empty()) {
      request.check_lease();
      results::write_sealed(request.directory / sample_file, source_.unsaved);
    }
  }

  std::optional<Bytes> recall(const StageRequest& request, const std::string& settings) override {
    words_ = read_words(request.directory / words_file);
    if (words_ && words_->settings != settings) {
      words_.reset();
    }
    return words_ ? std::optional(encode(*words_)) : std::nullopt;
  }

  /// A store that an earlier start has left is made anew: to prove it, all of it would have to be read.
  bool is_intact(const StageRequest& /*request*/) override { return has_store_; }

  Bytes finish(const StageRequest& request, const FinishedStage& finished) override {
    request.check_lease();
    WordsFile words{finished.settings, probe_->dimension(), finished.journal.cost(),
                    write_store(request.directory / store_file, *probe_, finished.journal, request)};
    has_store_ = true;
    auto bytes = encode(words);
    base::fail_if(words_ && encode(*words_) != bytes, "the vectors computed anew are not those of the first time",
                  "other hardware or libraries give other last bits", "start anew with --overwrite");
    request.check_lease();  // the store may have taken long
    results::write_sealed(request.directory / words_file, bytes);
    words_ = std::move(words);
    return bytes;
  }

  std::optional<StageFile> file(const sweep::Job& job) const override {
    const auto keep = job.settings<Contexts>().keep;
    return keep == Contexts::Keep::none || keep == Contexts::Keep::journal ? std::nullopt : file_on_request(job);
  }

  std::optional<StageFile> file_on_request(const sweep::Job& job) const override {
    const auto keep = job.settings<Contexts>().keep;
    if (keep == Contexts::Keep::none) {
      return std::nullopt;
    }
    const bool half = keep == Contexts::Keep::float16;
    return StageFile{vectors_file,
                     job.probe_name() + ".vectors",
                     half ? StageFile::Singles::half : StageFile::Singles::whole,
                     {{"keep", half ? "float16" : "float32"}},
                     base::PendingFile::Readers::owner};  // with the corpus's sentences
  }

  /// Vectors stay in the journal alone: the store is made of it again where it is needed. keep: none leaves nothing of
  /// them; the words stay, so that the run is known to be complete.
  void clean_up(const StageRequest& request) override {
    request.check_lease();
    std::filesystem::remove(request.directory / store_file);
    if (request.job.settings<Contexts>().keep != Contexts::Keep::none) {
      return;
    }
    std::filesystem::remove(request.directory / vectors_file);
    std::filesystem::remove_all(results::journal_directory(request.directory, vectors_stage));
  }

 private:
  std::shared_ptr<const Probe> make_probe(const sweep::Job& job) {
    probe_ = std::make_shared<const VectorsProbe>(job, source_.sample, source_.dimension, source_.table);
    return probe_;
  }

  ContextSource source_;
  std::shared_ptr<const VectorsProbe> probe_;
  std::optional<WordsFile> words_;  ///< rank zero
  bool has_store_ = false;          ///< rank zero: of this start
};

class EffectsStage final : public Stage {
 public:
  std::string name() const override { return effects_stage; }
  Asks asks() const override { return Asks::nothing; }

  std::shared_ptr<const Probe> open(const StageRequest& request, std::span<const std::byte> input) override {
    words_ = decode_words(input);
    return make_probe(request.job, nullptr);
  }

  std::shared_ptr<const Probe> reopen(const StageRequest& request) override {
    words_ = read_words(request.directory / words_file);
    return words_ ? make_probe(request.job, nullptr) : nullptr;
  }

  /// Its numbers depend on the vectors behind the words.
  std::map<std::string, std::string> settings() const override {
    auto comparable = *words_;
    comparable.cost = {};
    return {{"contexts.words", base::to_hex(base::Sha256().update(encode(comparable)).finish())}};
  }

  query::EngineCounts cost_before() const override { return words_->cost; }

  std::shared_ptr<const Probe> prepare(const StageRequest& request) override {
    return coordinated(request.world, [&] {
      // rank zero has written or checked it: what it cannot read does not get better
      const std::chrono::duration<double> patience(
          request.leads() ? 0 : base::seconds_from_environment("STEREOSWEEP_FILE_TIMEOUT_S", 60));
      return make_probe(request.job,
                        open_store(request.directory / store_file, words_->words, words_->dimension, patience));
    });
  }

  void report() const override {
    for (const auto& test : probe_->tests()) {
      base::log(test.is_doubtful() ? base::LogLevel::warning : base::LogLevel::info,
                test.test.label + ": " + test.consequence());
    }
  }

 private:
  std::shared_ptr<const Probe> make_probe(const sweep::Job& job, std::shared_ptr<const VectorStore> store) {
    probe_ = std::make_shared<const EffectsProbe>(job, words_->words, std::move(store));
    return probe_;
  }

  std::optional<WordsFile> words_;
  std::shared_ptr<const EffectsProbe> probe_;
};

}  // namespace

std::vector<std::unique_ptr<Stage>> make_stages() {
  std::vector<std::unique_ptr<Stage>> stages;
  stages.push_back(std::make_unique<VectorsStage>());
  stages.push_back(std::make_unique<EffectsStage>());
  return stages;
}

}  // namespace stereosweep::probes::contexts
