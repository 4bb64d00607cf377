#include "results/ScoreFile.hpp"

#include <span>
#include <utility>

#include "base/Error.hpp"
#include "results/AxisReader.hpp"
#include "results/Seal.hpp"

namespace stereosweep::results {
namespace {

template <class Read>
auto naming(const std::filesystem::path& path, Read&& read) {
  try {
    return read();
  } catch (const base::Error& error) {
    throw base::InputError(base::describe("cannot read '" + path.string() + "'", error.what()));
  }
}

/// HDF5 may crash on a file that was damaged; one with its seal is what we wrote.
const std::filesystem::path& require_seal(const std::filesystem::path& path) {
  base::refuse_if(check_seal(path) != Seal::intact, "cannot read '" + path.string() + "'",
                  "it was changed or is not finished: it has no seal");
  return path;
}

}  // namespace

ScoreFile::ScoreFile(const std::filesystem::path& path)
    : path_(require_seal(path)),
      file_bytes_(std::filesystem::file_size(path)),
      file_(naming(path, [&] { return hdf5::File::open(path); })) {
  naming(path, [&] {
    const auto schema = text("schema").value_or("");
    if (!schema.starts_with("stereosweep-statistics/")) {
      throw base::Error("it is no statistics file");
    }
    hdf5::Shape shape;
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      axes_[axis] = read_axis(file_.root(), score_axis_names[axis], file_bytes_);
      shape.push_back(axes_[axis].labels.size());
    }
    const auto scores = open_checked(file_.root(), "score", file_bytes_);
    if (scores.shape() != shape || scores.type() != ElementType::float64) {
      throw base::Error("its score table does not fit its axes");
    }
  });
}

std::optional<std::string> ScoreFile::text(const std::string& attribute) const {
  return file_.root().text_attribute(attribute);
}

std::vector<double> ScoreFile::read(std::size_t measure) const {
  return naming(path_, [&] {
    const auto dataset = file_.root().open_dataset("score");
    auto where = dataset.all();
    where.start[0] = measure;
    where.count[0] = 1;
    std::vector<double> values(hdf5::product(where.count));
    dataset.read(where, std::span<double>(values));
    return values;
  });
}

std::optional<PeoplesMeans> ScoreFile::peoples_means() const {
  return naming(path_, [&]() -> std::optional<PeoplesMeans> {
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
    auto where = dataset.all();
    where.count[0] = 1;  // of the groups of annotators the first: all
    std::vector<double> values(hdf5::product(where.count));
    dataset.read(where, std::span<double>(values));
    return PeoplesMeans{labels(1), labels(2), std::move(values)};
  });
}

}  // namespace stereosweep::results
