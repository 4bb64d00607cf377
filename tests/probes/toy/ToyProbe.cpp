// A whole probe outside of the program: how likely a causal model finds each word after "GROUP are". It stands here to
// show that a probe is one folder and one line that registers it; tests/integration/test_toy_probe.py runs it.
#include "app/Program.hpp"
#include "config/axes/AxesReader.hpp"
#include "probes/ProbeKind.hpp"
#include "probes/Registry.hpp"
#include "sweep/Subjects.hpp"

namespace stereosweep::probes {
namespace {

struct Toy {
  static constexpr const char* probe_name = "toy";
  std::vector<sweep::Group> groups;
  sweep::IntersectionRule intersections;
  std::vector<std::string> words;
  bool operator==(const Toy&) const = default;
  template <class Self, class Keys>
  static void each_key(Self& self, Keys& keys) {
    keys.needed().told_by_block().nested("axes", [&](auto& axes) {
      config::groups_keys(axes, self.groups, self.intersections, config::GroupForms::plural);
    });
    keys.required_lines("words", self.words, "what may follow");
  }
  static bool draws() { return false; }
  static bool needs_model() { return true; }
};

class ToyProbe final : public Probe {
 public:
  explicit ToyProbe(const sweep::Job& job)
      : settings_(settings_of_block(job.settings<Toy>())),
        words_(job.settings<Toy>().words),
        subjects_(sweep::list_subjects(job.settings<Toy>().groups, job.settings<Toy>().intersections,
                                       {.singular = false, .plural = true})
                      .subjects),
        blocks_(sweep::Product({subjects_.size(), 1, 1}),
                static_cast<std::uint64_t>(job.execution.contexts_per_block)) {
    results::AxisSchema groups{"group", "group or intersection", {}, {}};
    for (const auto& subject : subjects_) {
      groups.labels.push_back(subject.label);
    }
    schema_.outer_axes = {groups, {"template", "", {"are"}, {}}, {"rephrasing", "", {"none"}, {}}};
    schema_.inner_axes = {{"word", "what follows", words_, {}}};
    schema_.cubes = {{"logprob", results::ElementType::float64, {"word"}, "nat", "sum over the word's tokens", "", {}},
                     {"status", results::ElementType::uint8, {}, "", "", "", {"ok", "engine_error"}}};
  }
  const results::RawSchema& schema() const override { return schema_; }
  const sweep::BlockPlan& blocks() const override { return blocks_; }
  Round first(const sweep::Block& block) const override {
    Round round;
    for (std::uint64_t context = 0; context < block.num_contexts; ++context) {
      round.queries.emplace_back(query::Continue{subjects_[block.first_context + context].plural + " are ", words_,
                                                 query::Framing::tokenizer});
    }
    return round;
  }
  results::RawBlock fold(const sweep::Block& /*block*/, const Transcript& transcript) const override {
    std::vector<double> numbers;
    std::vector<std::uint8_t> statuses;
    for (const auto& answer : transcript.answers.front()) {
      const auto* found = std::get_if<query::ContinueAnswer>(&answer);
      statuses.push_back(found == nullptr ? 1 : 0);
      for (std::size_t word = 0; word < words_.size(); ++word) {
        double sum = found == nullptr ? std::numeric_limits<double>::quiet_NaN() : 0;
        for (const double token : found == nullptr ? std::vector<double>() : found->logprob[word]) {
          sum += token;
        }
        numbers.push_back(sum);
      }
    }
    return {{numbers, statuses}};
  }
  void hash_content(const sweep::Block& block, base::Sha256& hash) const override {
    hash.field(settings_);
    for (const auto& asked : first(block).queries) {
      hash.field(std::get<query::Continue>(asked).prompt);
    }
  }

 private:
  std::string settings_;
  std::vector<std::string> words_;
  std::vector<sweep::Subject> subjects_;
  sweep::BlockPlan blocks_;
  results::RawSchema schema_;
};

class ToyKind final : public KindOf<Toy> {
 public:
  Defaults defaults() const override { return {.sizes = {.contexts_per_block = 2}}; }
  std::optional<query::Prediction> prediction() const override { return query::Prediction::next; }
  std::unique_ptr<Probe> make_probe(const sweep::Job& job, const tokenizer::Tokenizer* /*tokenizer*/) const override {
    return std::make_unique<ToyProbe>(job);
  }
  std::string summary(const sweep::Job& job) const override {
    return std::to_string(ToyProbe(job).blocks().product().num_contexts()) + " subjects";
  }
  StatsText stats(const StatsRequest& request) const override {
    const auto& file = request.file;
    results::ScoreTable table;
    for (std::size_t axis = 0; axis < table.axes.size(); ++axis) {
      table.axes[axis] = results::ScoreTable::no_axis(axis);
    }
    table.axes[0].labels = {"logprob"};
    table.axes[1].labels = file.schema().outer_axes[0].labels;
    table.axes[5].labels = file.schema().inner_axes[0].labels;
    table.resize();
    table.values = std::get<std::vector<double>>(file.read(0, file.num_contexts()).columns[0]);
    for (std::size_t i = 0; i < table.values.size(); ++i) {
      table.statuses[i] = table.values[i] <= 0 ? results::ScoreStatus::ok : results::ScoreStatus::missing;
    }
    results::StatisticsFile written(file, Toy::probe_name, request.target);
    results::write_score_table(written.layout(), table, written.left_out());
    written.commit();
    return {};
  }
};

}  // namespace
}  // namespace stereosweep::probes

int main(int argc, char** argv) {
  static const stereosweep::probes::ToyKind toy;
  stereosweep::probes::register_probes();
  stereosweep::config::add_probe_format(toy);
  stereosweep::app::run_program(argc, argv);
}
