#include "probes/association/StatisticsFile.hpp"

#include "base/Sha256.hpp"
#include "base/Text.hpp"
#include "findings/AgreementFile.hpp"
#include "probes/association/Association.hpp"
#include "results/CubeKinds.hpp"
#include "results/Seal.hpp"
#include "results/StatisticsAttributes.hpp"

namespace stereosweep::probes::association {

namespace {

using results::CubeSchema;
using results::ElementType;

const std::vector<std::string> coverage_names = {"all", "some", "none"};

/// [table, sentence, item] -> [sentence, table, item].
template <class T>
std::vector<T> sentences_first(const std::vector<T>& values, std::size_t num_tables, std::size_t num_sentences) {
  const auto items = values.size() / (num_tables * num_sentences);
  std::vector<T> result;
  result.reserve(values.size());
  for (std::size_t sentence = 0; sentence < num_sentences; ++sentence) {
    for (std::size_t table = 0; table < num_tables; ++table) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>((table * num_sentences + sentence) * items);
      result.insert(result.end(), first, first + static_cast<std::ptrdiff_t>(items));
    }
  }
  return result;
}

template <class T>
void write_sentences(hdf5::DataSet& dataset, const ScoreSlab& slab, const std::vector<T>& values) {
  const auto shape = dataset.shape();
  std::uint64_t done = 0;
  for (auto& part : hdf5::rectangles_of_range({shape[1], shape[2]}, slab.first_sentence, slab.num_sentences)) {
    const auto length = part.count[0] * part.count[1] * shape[3] * shape[4] * shape[5];
    const hdf5::Rectangle where{{slab.group, part.start[0], part.start[1], 0, 0, 0},
                                {1, part.count[0], part.count[1], shape[3], shape[4], shape[5]}};
    dataset.write(where, std::span<const T>(values).subspan(done, length));
    done += length;
  }
}

void write_covered(hdf5::DataSet& score, hdf5::DataSet& coverage, const ScoreSlab& slab,
                   const std::vector<CoveredScore>& scores, std::size_t num_tables) {
  std::vector<double> values;
  std::vector<std::uint8_t> flags;
  for (const auto& item : sentences_first(scores, num_tables, slab.num_sentences)) {
    values.push_back(item.value);
    flags.push_back(static_cast<std::uint8_t>(item.coverage));
  }
  write_sentences(score, slab, values);
  write_sentences(coverage, slab, flags);
}

std::vector<std::string> words_of(const std::array<std::string_view, stats::score_status_names.size()>& names) {
  return {names.begin(), names.end()};
}

}  // namespace

StatisticsFile::StatisticsFile(const results::ResultFile& source, const StatisticsOptions& options,
                               const TraitPairs& traits, const ScoreReader& reader, const std::filesystem::path& target)
    : pending_(target), file_(hdf5::File::create(pending_.path())), reader_(reader) {
  write_attributes(source, options);
  layout_ = std::make_unique<results::Layout>(file_.root());
  add_axes(source, traits);
  const auto add = [&](const CubeSchema& cube, const std::string& last) {
    return layout_->add_cube(cube, {"group", "template", "rephrasing", "measure", "prior", last});
  };
  arrays_ = std::make_unique<Arrays>(Arrays{
      add(results::number_cube("word_score", "nat", "association of group and word", "by measure and prior"), "word"),
      add(results::flag_cube("word_score_status", "why a word score does not exist",
                             words_of(stats::score_status_names)),
          "word"),
      add(results::number_cube("pole_score", "nat", "association of group and pole",
                               "word_aggregate (root attribute) of the pole's defined words"),
          "pole"),
      add(results::flag_cube("pole_coverage", "how many of the pole's words have a score", coverage_names), "pole"),
      add(results::number_cube("pair_score", "nat", "right pole minus left pole"), "pair"),
      add(results::flag_cube("pair_coverage", "how many of the two poles' words have a score", coverage_names), "pair"),
  });
}

void StatisticsFile::write_attributes(const results::ResultFile& source, const StatisticsOptions& options) {
  auto& root = file_.root();
  results::write_statistics_attributes(root, source, "association");
  const bool is_median = options.word_aggregate == Statistics::Aggregate::median;
  root.write_attribute("word_aggregate", is_median ? "median" : "mean");
  root.write_attribute("templates_averaged",
                       options.templates.empty() ? std::string("all") : base::join(options.templates, "; "));
  root.write_attribute("human_ratings", options.ratings ? options.ratings_source : std::string("none"));
}

void StatisticsFile::add_axes(const results::ResultFile& source, const TraitPairs& traits) {
  results::AxisSchema measures{"measure", "variant of the score", {}, {{"description", "definition", {}}}};
  for (const auto measure : reader_.measures()) {
    measures.labels.emplace_back(stats::name_of(measure));
    measures.coordinates.front().values.emplace_back(stats::description_of(measure));
  }
  const auto& schema = source.schema();
  layout_->add_axis(measures);
  layout_->add_axis(results::prior_axis(schema));
  layout_->add_axis(results::group_axis(schema));
  layout_->add_axis(schema.outer_axes.at(1));
  layout_->add_axis(schema.outer_axes.at(2));
  layout_->add_axis(schema.inner_axis("word"));
  layout_->add_axis(traits.pole_axis());
  layout_->add_axis(traits.pair_axis());
}

void StatisticsFile::add(const ScoreSlab& slab, const SlabScores& scores) {
  const auto tables = reader_.measures().size() * reader_.priors().size();
  write_sentences(arrays_->word_score, slab, sentences_first(slab.values, tables, slab.num_sentences));
  std::vector<std::uint8_t> statuses;
  for (const auto status : sentences_first(slab.statuses, tables, slab.num_sentences)) {
    statuses.push_back(static_cast<std::uint8_t>(status));
  }
  write_sentences(arrays_->word_status, slab, statuses);
  write_covered(arrays_->pole_score, arrays_->pole_coverage, slab, scores.poles, tables);
  write_covered(arrays_->pair_score, arrays_->pair_coverage, slab, scores.pairs, tables);
}

void StatisticsFile::finish(const StatisticsResult& result) {
  findings::write_pair_agreement(*layout_, result, "nat");
  arrays_.reset();
  layout_.reset();
  file_.root().write_attribute("complete", std::int64_t{1});
  file_.finish();
  results::commit_sealed(pending_);
}

}  // namespace stereosweep::probes::association
