#include <algorithm>
#include <iostream>
#include <limits>

#include "base/Log.hpp"
#include "base/files/File.hpp"
#include "base/text/Text.hpp"
#include "corpus/Collect.hpp"
#include "corpus/StaticVectors.hpp"
#include "engine/EngineFactory.hpp"
#include "engine/causal/TokenTreePlan.hpp"
#include "engine/elmo/ElmoEngine.hpp"
#include "engine/masked/MaskedEngine.hpp"
#include "findings/people/RatingsFile.hpp"
#include "model/causal/CausalSpecification.hpp"
#include "model/elmo/ElmoCheckpoint.hpp"
#include "model/families/Families.hpp"
#include "model/masked/MaskedSpecification.hpp"
#include "probes/PlanText.hpp"
#include "probes/ProbeKind.hpp"
#include "probes/contexts/Contexts.hpp"
#include "probes/contexts/effects/EffectsProbe.hpp"
#include "probes/contexts/effects/EmbeddingTests.hpp"
#include "probes/contexts/statistics/ContextsStatistics.hpp"
#include "probes/contexts/vectors/ContextSource.hpp"
#include "probes/contexts/vectors/VectorsProbe.hpp"

namespace stereosweep::probes::contexts {
namespace {

using base::counted;
using base::with_thousands;

std::string source_of(const Contexts& settings) {
  if (settings.is_static()) {
    return settings.needs_model() ? "the model's input embeddings" : "vectors of " + settings.from_table().file;
  }
  const auto& corpus = settings.contextual().corpus;
  return (corpus.is_generated() ? counted(corpus.templates.size(), "template") + " x " +
                                      counted(corpus.rephrasings.size(), "rephrasing") + ", "
                                : std::string()) +
         "at most " + counted(static_cast<std::uint64_t>(corpus.max_contexts), "context") + " of each";
}

std::string contexts_summary(const sweep::Job& job) {
  const auto& settings = job.settings<Contexts>();
  const auto num_weat = static_cast<std::uint64_t>(std::ranges::count_if(settings.tests, &EmbeddingTest::is_weat));
  std::string notes;
  for (const auto& test : settings.tests) {
    if (const auto shared = shared_words(settings, test); !shared.empty()) {
      notes += "\n  note: the test '" + test.label + "' has " + shared;
    }
  }
  return counted(num_weat, "WEAT test") + " and " + counted(settings.tests.size() - num_weat, "WEFAT test") + " of " +
         counted(list_words(settings.tests).size(), "word") + ", contexts: " + source_of(settings) + "; " +
         counted(static_cast<std::uint64_t>(settings.samples), "sample") + " per test" + notes;
}

ContextsOptions options_of(const StatsRequest& request) {
  ContextsOptions options;
  options.settings = request.job.settings<Contexts>().statistics;
  options.job = &request.job.settings<Contexts>();
  options.seed = request.job.seed;
  options.num_threads = threads_of(request.world.size());
  options.world = request.world;
  return options;
}

// What `plan` says: the corpus is scanned, the model's weights are not read.

/// What stage `vectors` will run.
struct VectorsAudit {
  std::uint64_t queries = 0;
  std::uint64_t sequences = 0;  ///< distinct inside their blocks
  std::uint64_t tokens = 0;
  std::uint64_t longest = 0;
  std::uint64_t text_bytes = 0;
  std::vector<WordVectors> words;                       ///< with the number of contexts that the model takes
  std::map<std::string, std::set<std::string>> errors;  ///< why -> texts

  /// Returns the sum of their lengths.
  std::uint64_t add(const auto& inputs, auto length) {
    sequences += inputs.size();
    std::uint64_t sum = 0;
    for (const auto& input : inputs) {
      const auto tokens_of_input = static_cast<std::uint64_t>(length(input));
      sum += tokens_of_input;
      longest = std::max(longest, tokens_of_input);
    }
    return sum;
  }
};
/// Adds what runs for queries; returns errors, and answers without numbers.
using InputPlanner = std::function<std::vector<query::Answer>(const std::vector<query::Query>&, VectorsAudit&)>;

/// Plans a block's queries as the engine of the job will.
InputPlanner planner_of(const PlanRequest& request) {
  constexpr auto boundless = std::numeric_limits<std::int64_t>::max();
  constexpr auto size = [](const auto& sequence) { return sequence.ids.size(); };
  const auto& tokenizer = *request.tokenizer;
  if (base::is_elmo(request.files)) {
    const auto layers = static_cast<int>(model::read_elmo_options(request.files).num_layers);
    return [&tokenizer, layers](const auto& queries, auto& audit) {
      auto plan = engine::plan_elmo(queries, tokenizer, layers);
      audit.tokens += audit.add(plan.sentences, engine::tokens_of);
      return std::move(plan.answers);
    };
  }
  const bool has_config = request.files.find("config.json") != nullptr;
  if (has_config && model::is_causal(request.files)) {
    const auto shape = model::shape_of(model::read_causal_specification(request.files));
    return [&, shape](const auto& queries, auto& audit) {
      auto plan = engine::plan_causal(queries, tokenizer, shape);
      audit.add(plan.sequences, size);
      audit.tokens += engine::count_causal(plan, request.job.execution.batch_tokens).tokens;  // shared beginnings once
      return std::move(plan.answers);
    };
  }
  model::ModelShape shape{
      .num_layers = 1000, .ids = boundless, .max_tokens = boundless};  // a fake engine without a model
  if (has_config) {
    shape = model::shape_of(model::read_masked_specification(request.files));
  }
  return [&tokenizer, shape](const auto& queries, auto& audit) {
    auto plan = engine::plan_masked(queries, tokenizer, shape);
    audit.tokens += audit.add(plan.sequences, size);
    return std::move(plan.answers);
  };
}

VectorsAudit audit_vectors(const PlanRequest& request, const VectorsProbe& probe) {
  const auto plan = planner_of(request);
  VectorsAudit audit;
  audit.words = probe.words();
  const auto contexts = probe.schema().outer_axes[1].labels.size();
  for (std::uint64_t index = 0; index < probe.blocks().num_blocks(); ++index) {
    const auto block = probe.blocks().block(index);
    const auto queries = probe.first(block).queries;
    const auto answers = plan(queries, audit);
    audit.queries += queries.size();
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const auto& text = std::get<query::Embed>(queries[i]).text;
      audit.text_bytes += text.size();
      if (const auto* error = std::get_if<query::QueryError>(&answers[i])) {
        audit.errors[error->message].insert(text);
      } else {
        ++audit.words[block.first_context / contexts].usable;
      }
    }
  }
  return audit;
}

void print_words(const corpus::Sample& sample, const Corpus& corpus, std::uint64_t limit) {
  std::map<std::string, std::set<std::string>> none;
  std::map<std::string, std::set<std::string>> counts;
  std::uint64_t found = 0;
  std::uint64_t kept = 0;
  for (const auto& word : sample.words) {
    found += word.occurrences;
    kept += word.contexts.size();
    auto& list = word.contexts.empty() ? none : counts;
    list[word.word].insert(with_thousands(word.occurrences) + ", kept " + with_thousands(word.contexts.size()));
  }
  plan_line(std::cout, "corpus") << sizes_of(sample) << "; contexts found " << with_thousands(found) << ", kept "
                                 << with_thousands(kept) << '\n';
  for (const auto& remark : corpus::remarks_on_bad_lines(sample, corpus)) {
    plan_line(std::cout, "left out") << remark << '\n';
  }
  print_list(std::cout, "words without a context", none, "found", limit);
  print_list(std::cout, "contexts per word", counts, "found", limit);
}

/// What stage `effects` makes of these words.
void print_effects(const sweep::Job& job, std::vector<WordVectors> words, double vector_bytes) {
  const EffectsProbe effects(job, std::move(words), nullptr);
  for (const auto& used : effects.tests()) {
    if (const auto text = used.consequence(); text != "all words") {
      plan_line(std::cout, "test") << used.test.label << ": " << text << '\n';
    }
  }
  const auto samples = static_cast<std::uint64_t>(job.settings<Contexts>().samples);
  plan_line(std::cout, "effects") << counted(effects.tests().size(), "test") << " x " << counted(samples, "sample")
                                  << " in " << counted(effects.blocks().num_blocks(), "block") << ", no model asked\n";
  plan_line(std::cout, "output")
      << "about " << megabytes(output_bytes(effects.schema(), effects.blocks().product().num_contexts(), 0))
      << " of effects; vectors: " << megabytes(vector_bytes) << " of journal and as much of store, "
      << (job.settings<Contexts>().keep == Contexts::Keep::none ? "both removed at the end\n"
                                                                : "which is removed at the end\n");
}

void print_head(const sweep::Job& job, const std::string& source) {
  std::cout << job.name << ": contexts" << source << '\n';
  plan_line(std::cout, "product") << kind_of(job).summary(job) << '\n';
}

/// Vectors of a file: no model is asked.
void plan_table(const sweep::Job& job, std::optional<std::uint64_t> limit) {
  const auto& source = job.settings<Contexts>().from_table();
  const auto table = corpus::read_vectors(source, list_words(job.settings<Contexts>().tests));
  print_head(job, ", vectors of " + source.file);
  const auto num_found = table.words.size() - table.missing().size();
  plan_line(std::cout, "vectors") << with_thousands(num_found) << " of " << counted(table.words.size(), "word")
                                  << " among the file's " << with_thousands(table.rows) << ", " << table.dimension
                                  << " dimensions\n";
  std::map<std::string, std::set<std::string>> missing;
  std::vector<WordVectors> words;
  for (const auto& [word, vector] : table.words) {
    const std::uint64_t found = vector.empty() ? 0 : 1;
    words.push_back({word, found, found, found, {}});
    if (found == 0) {
      missing[word].insert("the file has none");
    }
  }
  print_omissions(std::cout, job.settings<Contexts>().omissions, limit.value_or(default_plan_limit));
  print_list(std::cout, "words without a vector", missing, "why", limit.value_or(default_plan_limit));
  if (!table.remark.empty()) {
    plan_line(std::cout, "missing") << table.remark << '\n';
  }
  print_effects(job, std::move(words),
                static_cast<double>(num_found) * static_cast<double>(table.dimension) * sizeof(float));
}

void plan_contexts(const PlanRequest& request) {
  const auto& job = request.job;
  if (!job.needs_model()) {
    plan_table(job, request.limit);
    return;
  }
  const auto& settings = job.settings<Contexts>();
  const auto limit = request.limit.value_or(default_plan_limit);
  const auto width = engine::vector_width(job.execution.engine, request.files, asked_of(settings));
  const auto sample = std::make_shared<const corpus::Sample>(sample_of(job));
  const VectorsProbe vectors(job, sample, width);
  const auto audit = audit_vectors(request, vectors);
  print_head(job, " on " + job.model.path);
  print_omissions(std::cout, settings.omissions, limit);
  if (!settings.is_static()) {
    print_words(*sample, settings.contextual().corpus, limit);
  }
  plan_line(std::cout, "queries") << with_thousands(audit.sequences) << " distinct inputs of "
                                  << counted(audit.queries, "context") << '\n';
  plan_line(std::cout, "tokens") << with_thousands(audit.tokens) << " in them, longest " << audit.longest << '\n';
  print_blocks(std::cout, job, vectors.blocks(), request.ranks);
  print_list(std::cout, "contexts without a vector", audit.errors, "in", limit);
  const auto text_bytes = static_cast<double>(audit.text_bytes);
  print_effects(job, audit.words,
                output_bytes(vectors.schema(), vectors.blocks().product().num_contexts(), text_bytes));
  request.print_time(std::cout, vectors);
  if (request.prompts == PlanRequest::Prompts::printed) {
    std::cout << '\n';
    std::uint64_t shown = 0;
    for (std::uint64_t cell = 0; cell < vectors.blocks().product().num_contexts(); ++cell) {
      const auto asked = vectors.query(cell);
      if (asked && shown++ < request.limit.value_or(std::numeric_limits<std::uint64_t>::max())) {
        std::cout << cell << '\t' << asked->span.begin << '\t' << asked->span.end << '\t'
                  << base::json_quote(asked->text) << '\n';
      }
    }
  }
}

class ContextsKind final : public KindOf<Contexts> {
 public:
  Defaults defaults() const override {
    return {.sizes = {.contexts_per_block = 64},
            .on_gpu = {.contexts_per_block = 2048, .batch_tokens = config::gpu_batch_tokens}};
  }
  std::optional<query::Prediction> prediction() const override { return std::nullopt; }
  std::optional<query::Embed> vectors(const sweep::Job& job) const override {
    return asked_of(job.settings<Contexts>());
  }
  std::vector<std::pair<std::string, std::string>> inputs(const sweep::Job& job) const override {
    const auto& settings = job.settings<Contexts>();
    using Files = std::vector<std::pair<std::string, std::string>>;
    if (settings.is_static()) {
      return settings.needs_model() ? Files() : Files{{"file of vectors", settings.from_table().file}};
    }
    return base::mapped(settings.contextual().corpus.files,
                        [](const auto& file) { return Files::value_type("corpus", file); });
  }
  void check_inputs(const sweep::Job& job) const override { input_states(job.settings<Contexts>()); }

  std::unique_ptr<Probe> make_probe(const sweep::Job& /*job*/,
                                    const tokenizer::Tokenizer* /*tokenizer*/) const override {
    return nullptr;
  }
  std::vector<std::unique_ptr<Stage>> stages(const sweep::Job& /*job*/) const override { return make_stages(); }
  std::vector<std::string> run_files() const override { return {sample_file, words_file, store_file, vectors_file}; }

  std::string summary(const sweep::Job& job) const override { return contexts_summary(job); }
  void plan(const PlanRequest& request) const override { plan_contexts(request); }
  void show(const results::ResultFile& file, Detail detail, std::size_t top) const override {
    ContextsOptions options;
    options.depth = ContextsDepth::effects;
    const auto result = compute_contexts(file, options);
    auto text = contexts_text(result, detail, top);
    text.found.add(std::move(text.details));
    std::cout << text.found.text();
  }
  std::vector<std::string> recommended_measures(const sweep::Job& /*job*/) const override { return {"effect_size"}; }
  /// Means of words by WEFAT test, and agreement with people where the job names their ratings by the older key: a
  /// wefat test is a trait pair (A right, B left), its words are groups, the score is the mean over samples of a word's
  /// effect size (the variant of CEAT that cao2022 §3.2 compares with people).
  sweep::Comparison comparison(const sweep::Job& job) const override {
    const auto& settings = job.settings<Contexts>();
    auto comparison = job.comparison;
    const bool has_words = !std::ranges::all_of(settings.tests, &EmbeddingTest::is_weat);
    if (!comparison.means && has_words) {
      comparison.means = sweep::MeansRequest{.measures = {"effect_size"}};
    }
    if (const auto& own = settings.statistics; !comparison.people && !own.human_ratings.empty()) {
      comparison.people =
          sweep::People{.ratings = own.human_ratings, .aliases = own.rating_aliases, .measures = {"effect_size"}};
    }
    return comparison;
  }
  /// By tests over words; the score table knows only samples of contexts.
  bool answers_itself() const override { return true; }
  results::ScoreTableAxes score_axes(const sweep::Job& job) const override {
    return contexts::score_axes(job.settings<Contexts>());
  }
  StatsText stats(const StatsRequest& request) const override {
    const auto options = options_of(request);
    const auto result = write_contexts(request.file, options, request.target);
    return contexts_text(result, request.detail, request.top);
  }
  void assist(const StatsRequest& request) const override { compute_contexts(request.file, options_of(request)); }
};

}  // namespace

const config::ProbeFormat& contexts_kind() {
  static const ContextsKind kind;
  return kind;
}

}  // namespace stereosweep::probes::contexts
