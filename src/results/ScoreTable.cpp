#include "results/ScoreTable.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "results/Seal.hpp"
#include "results/Software.hpp"

namespace stereosweep::results {

StatisticsFile::StatisticsFile(const ResultFile& source, const std::string& probe, const StatisticsTarget& target)
    : pending_(target.path),
      file_(hdf5::File::create(pending_.path())),
      layout_(std::make_unique<Layout>(file_.root())),
      finish_(target.finish),
      left_out_(target.left_out) {
  root().write_attribute("Conventions", "CF-1.8");
  root().write_attribute("schema", "stereosweep-statistics/" + probe);
  root().write_attribute("schema_version", "1.0");
  for (const auto* copied : {"title", "created", "model", "model_revision", "model_storage", "adapter",
                             "adapter_sha256", "model_sha256", "dtype", "job_sha256"}) {
    if (const auto text = source.text(copied)) {
      root().write_attribute(copied, *text);
    }
  }
  root().write_attribute("software", "stereosweep");
  root().write_attribute("software_version", software_version());
  root().write_attribute("source_digest", stated_digest(source));
  root().write_attribute("source_complete", std::int64_t{source.complete() ? 1 : 0});
}

std::filesystem::path statistics_beside(const std::filesystem::path& file) {
  return file.parent_path() / (file.stem().string() + ".stats.h5");
}

void StatisticsFile::commit() {
  if (finish_) {
    finish_(*this);
  }
  layout_.reset();
  root().write_attribute("complete", std::int64_t{1});
  file_.finish();
  commit_sealed(pending_);
}

const std::vector<std::string> score_status_names = {"ok",         "partial",        "missing", "undefined",
                                                     "not_scored", "not_applicable", "infinite"};

AxisSchema ScoreTable::no_axis(std::size_t place) {
  return {score_axis_names.at(place), "the probe has no such axis", {"none"}, {}};
}

void ScoreTable::resize() {
  std::size_t size = 1;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    STEREOSWEEP_ASSERT(axes[axis].name == score_axis_names[axis], "axes in their order");
    STEREOSWEEP_ASSERT(!axes[axis].labels.empty(), "an axis is at least one long");
    size *= axes[axis].labels.size();
  }
  values.assign(size, std::numeric_limits<double>::quiet_NaN());
  statuses.assign(size, ScoreStatus::unscored);
}

std::size_t ScoreTable::index(const std::array<std::size_t, 6>& place) const {
  std::size_t result = 0;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    STEREOSWEEP_ASSERT(place[axis] < length(axis), "a place inside the table");
    result = result * length(axis) + place[axis];
  }
  return result;
}

namespace {

std::vector<std::string> add_axes(Layout& layout, const ScoreTableAxes& axes) {
  std::vector<std::string> names;
  for (const auto& axis : axes) {
    if (!layout.has_axis(axis.name)) {
      layout.add_axis(axis);
    }
    STEREOSWEEP_ASSERT(layout.length(axis.name) == axis.labels.size(), "an axis of the same name is the same");
    names.push_back(axis.name);
  }
  return names;
}

}  // namespace

ScoreTableWriter::ScoreTableWriter(Layout& layout, const ScoreTableAxes& axes, const std::string& name,
                                   std::vector<bool> left_out)
    : left_out_(std::move(left_out)),
      scores_(layout.add_cube(
          number_cube(name, "", "score of the " + axes.back().name + " for the subject", "unit: measure_units"),
          add_axes(layout, axes))),
      statuses_(
          layout.add_cube(flag_cube(name + "_status", "whether the score exists, and why not", score_status_names),
                          add_axes(layout, axes))),
      shape_(scores_.shape()) {
  const auto subject_bytes = shape_[2] * shape_[3] * shape_[4] * shape_[5] * sizeof(double);
  subjects_together_ = std::clamp<std::uint64_t>(hdf5::chunk_bytes / subject_bytes, 1, shape_[1]);
}

void ScoreTableWriter::write(const hdf5::Rectangle& where, std::span<const double> values,
                             std::span<const ScoreStatus> statuses) {
  std::vector<std::uint8_t> flags(statuses.size());
  std::ranges::transform(statuses, flags.begin(), [](auto status) { return static_cast<std::uint8_t>(status); });
  const auto of_sentence = where.count[4] * where.count[5];
  for (std::size_t place = 0; !left_out_.empty() && place < flags.size(); ++place) {
    const auto sentence = place / of_sentence;
    const auto line = where.start[2] + sentence / where.count[3] % where.count[2];
    const bool exists = statuses[place] == ScoreStatus::ok || statuses[place] == ScoreStatus::partial;
    if (!exists && left_out_.at(line * shape_[3] + where.start[3] + sentence % where.count[3])) {
      flags[place] = static_cast<std::uint8_t>(ScoreStatus::not_applicable);
    }
  }
  scores_.write(where, values);
  statuses_.write(where, std::span<const std::uint8_t>(flags));
}

void ScoreTableWriter::write_sentences(std::span<const Part> parts, std::uint64_t done, std::uint64_t length,
                                       const hdf5::Rectangle& where) {
  std::vector<double> values;
  std::vector<ScoreStatus> statuses;
  for (std::uint64_t measure = 0; measure < shape_[0]; ++measure) {
    for (const auto& part : parts) {
      const auto first = static_cast<std::ptrdiff_t>(measure * part.values.size() / shape_[0] + done);
      const auto last = first + static_cast<std::ptrdiff_t>(length);
      values.insert(values.end(), part.values.begin() + first, part.values.begin() + last);
      statuses.insert(statuses.end(), part.statuses.begin() + first, part.statuses.begin() + last);
    }
  }
  write(where, values, statuses);
}

void ScoreTableWriter::add(const Part& part) {
  const auto num_sentences = shape_[2] * shape_[3];
  STEREOSWEEP_ASSERT(part.values.size() == shape_[0] * part.num_sentences * shape_[4] * shape_[5] &&
                         part.statuses.size() == part.values.size(),
                     "a part over all measures and items");
  if (subjects_together_ == 1 || part.num_sentences != num_sentences) {
    flush();
    std::uint64_t done = 0;
    for (const auto& sentences :
         hdf5::rectangles_of_range({shape_[2], shape_[3]}, part.first_sentence, part.num_sentences)) {
      const auto length = sentences.count[0] * sentences.count[1] * shape_[4] * shape_[5];
      write_sentences({&part, 1}, done, length,
                      {{0, part.subject, sentences.start[0], sentences.start[1], 0, 0},
                       {shape_[0], 1, sentences.count[0], sentences.count[1], shape_[4], shape_[5]}});
      done += length;
    }
    return;
  }
  if (!kept_.empty() && kept_.back().subject + 1 != part.subject) {
    flush();
  }
  kept_.push_back(part);
  if ((part.subject + 1) % subjects_together_ == 0) {
    flush();
  }
}

void ScoreTableWriter::flush() {
  if (!kept_.empty()) {
    write_sentences(kept_, 0, shape_[2] * shape_[3] * shape_[4] * shape_[5],
                    {{0, kept_.front().subject, 0, 0, 0, 0},
                     {shape_[0], kept_.size(), shape_[2], shape_[3], shape_[4], shape_[5]}});
    kept_.clear();
  }
}

void write_score_table(Layout& layout, const ScoreTable& table, std::vector<bool> left_out) {
  ScoreTableWriter writer(layout, table.axes, "score", std::move(left_out));
  hdf5::Rectangle all;
  for (const auto& axis : table.axes) {
    all.start.push_back(0);
    all.count.push_back(axis.labels.size());
  }
  writer.write(all, table.values, table.statuses);
}

void write_score_file(const ResultFile& source, const std::string& probe, const ScoreTable& table,
                      const StatisticsTarget& target) {
  StatisticsFile file(source, probe, target);
  write_score_table(file.layout(), table, file.left_out());
  file.commit();
}

FinishedStatistics::FinishedStatistics(const std::filesystem::path& path, Of of)
    : path_(path), file_([&] {
        // HDF5 may crash on a file that was damaged; one with its seal is what we wrote
        base::refuse_if(check_seal(path) != Seal::intact, "cannot read '" + path.string() + "'",
                        "it was changed or is not finished: it has no seal");
        return naming([&] { return hdf5::File::open(path); });
      }()) {
  file_bytes_ = std::filesystem::file_size(path);
  naming([&] {
    const auto schema = text("schema").value_or("");
    base::fail_if(!schema.starts_with("stereosweep-statistics/") && (of == Of::run || schema != "stereosweep-runs"),
                  "it is no statistics file");
  });
}

ScoreFile::ScoreFile(const std::filesystem::path& path) : FinishedStatistics(path, Of::run) {
  naming([&] {
    hdf5::Shape shape;
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      axes_[axis] = read_axis(file_.root(), score_axis_names[axis], file_bytes_);
      shape.push_back(axes_[axis].labels.size());
    }
    for (const auto& [name, type] :
         {std::pair("score", ElementType::float64), std::pair("score_status", ElementType::uint8)}) {
      const auto table = open_checked(file_.root(), name, file_bytes_);
      base::fail_if(table.shape() != shape || table.type() != type, "its score table does not fit its axes");
    }
  });
}

std::vector<double> ScoreFile::read(std::size_t measure) const {
  return naming([&] { return read_part<double>(file_.root(), "score", measure); });
}

std::vector<std::uint8_t> ScoreFile::read_statuses(std::size_t measure) const {
  return naming([&] { return read_part<std::uint8_t>(file_.root(), "score_status", measure); });
}

std::optional<PeoplesMeans> ScoreFile::peoples_means() const {
  return naming([&]() -> std::optional<PeoplesMeans> {
    if (!file_.root().contains("people_mean")) {
      return std::nullopt;
    }
    const auto dataset = open_checked(file_.root(), "people_mean", file_bytes_);
    if (dataset.shape().size() != 3 || dataset.type() != ElementType::float64) {
      return std::nullopt;
    }
    const auto labels = [&](unsigned axis) {
      return read_texts(open_checked(file_.root(), dataset.scale_name(axis), file_bytes_));
    };
    // of the groups of annotators the first: all
    PeoplesMeans means{labels(1), labels(2), read_part<double>(file_.root(), "people_mean", 0)};
    base::fail_if(means.subjects.size() != dataset.shape()[1] || means.items.size() != dataset.shape()[2],
                  "'people_mean' does not fit its axes");
    return means;
  });
}

}  // namespace stereosweep::results
