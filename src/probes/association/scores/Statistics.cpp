#include "probes/association/scores/Statistics.hpp"

#include <algorithm>

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "probes/association/scores/AssociationFile.hpp"

namespace stereosweep::probes::association {

namespace {

findings::ScoreAxes axes_of(const results::ResultFile& file, const ScoreReader& reader, const TraitPairs& traits,
                            const std::vector<std::string>& templates) {
  const auto& schema = file.schema();
  findings::ScoreAxes axes;
  for (const auto measure : reader.measures()) {
    axes.measures.emplace_back(stats::name_of(measure));
  }
  axes.priors = reader.priors();
  const auto& subjects = schema.outer_axes.at(0).labels;
  axes.groups.assign(subjects.begin() + static_cast<std::ptrdiff_t>(schema.num_priors), subjects.end());
  axes.templates = schema.outer_axes.at(1).labels;
  axes.rephrasings = schema.outer_axes.at(2).labels;
  axes.words = schema.inner_axis("word").labels;
  for (const auto& pair : traits.pairs()) {
    axes.pairs.push_back(pair.label);
  }
  for (const auto& label : templates) {
    const auto found = std::find(axes.templates.begin(), axes.templates.end(), label);
    if (found == axes.templates.end()) {
      throw base::InputError(base::describe("unknown template '" + label + "' in statistics.templates",
                                            "the result has no such template",
                                            base::did_you_mean(label, axes.templates)));
    }
    axes.selected_templates.push_back(static_cast<std::size_t>(found - axes.templates.begin()));
  }
  if (templates.empty()) {
    axes.selected_templates.resize(axes.templates.size());
    for (std::size_t index = 0; index < axes.templates.size(); ++index) {
      axes.selected_templates[index] = index;
    }
  }
  return axes;
}

/// Goes through the file once; `writer` may be null.
StatisticsResult stream(const StatisticsOptions& options, AssociationFile* writer, const TraitPairs& traits,
                        const ScoreReader& reader, findings::ScoreAxes axes) {
  StatisticsResult result;
  result.shuffles = options.shuffles;
  result.cell_status_names = reader.cell_status_names();
  result.pairs = traits.pairs();
  for (const auto& pole : traits.poles()) {
    result.pole_names.push_back(pole.label);
  }
  if (options.ratings) {
    result.ratings = findings::match_ratings(*options.ratings, axes);
  }
  PairScoreSum sum(std::move(axes), result.ratings ? result.ratings->rated_groups : std::vector<std::size_t>{},
                   result.cell_status_names.size());
  reader.for_each([&](const ScoreSlab& slab) {
    const auto scores = fold_traits(slab, reader.num_words(), traits, options.word_aggregate);
    sum.add(slab, scores);
    if (writer != nullptr) {
      writer->add(slab, scores);
    }
  });
  result.scores = sum.take();
  if (result.ratings) {
    result.alignments = findings::align_all(result.scores, *result.ratings, options.shuffles);
  }
  return result;
}

}  // namespace

StatisticsResult compute_statistics(const results::ResultFile& file, const StatisticsOptions& options) {
  const ScoreReader reader(file);
  const TraitPairs traits(file.schema().inner_axis("word"));
  return stream(options, nullptr, traits, reader, axes_of(file, reader, traits, options.templates));
}

StatisticsResult write_statistics(const results::ResultFile& file, const StatisticsOptions& options,
                                  const std::filesystem::path& target) {
  const ScoreReader reader(file);
  const TraitPairs traits(file.schema().inner_axis("word"));
  auto axes = axes_of(file, reader, traits, options.templates);
  AssociationFile writer(file, options, traits, reader, target);
  auto result = stream(options, &writer, traits, reader, std::move(axes));
  writer.finish(result);
  return result;
}

}  // namespace stereosweep::probes::association
