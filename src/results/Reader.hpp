// An exported file back as schema and raw blocks, any range of contexts at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/Error.hpp"
#include "hdf5/File.hpp"
#include "results/RawBlock.hpp"

namespace stereosweep::results {

enum class Seal;

/// Root attribute of an exported file: its RawDigest in hexadecimal.
inline constexpr const char* raw_digest_name = "raw_digest";

/// Throws InputError: the user named the file, so what is wrong with it is an error of the input.
[[noreturn]] void refuse_file(const std::filesystem::path& path, const std::string& why, const char* remedy);

/// A file that this program wrote, open for reading. Errors of reading are InputErrors that name it.
class OpenFile {
 public:
  const std::filesystem::path& path() const { return path_; }
  /// A root attribute; nothing where it does not exist.
  std::optional<std::string> text(const std::string& attribute) const;
  std::optional<std::int64_t> number(const std::string& attribute) const;
  /// An axis with its text coordinates, also one that no cube runs over. Throws InputError where there is none.
  AxisSchema axis(const std::string& name) const;

 protected:
  /// `remedy`: what helps where it cannot be read.
  OpenFile(const std::filesystem::path& path, const char* remedy);
  /// What `read` gives.
  auto naming(auto&& read) const {
    try {
      return read();
    } catch (const base::Error& error) {
      refuse_file(path_, error.what(), remedy_);
    }
  }
  std::filesystem::path path_;
  const char* remedy_;
  std::uint64_t file_bytes_;
  hdf5::File file_;
};

/// Opens a result read-only. The constructor throws InputError naming the file where it is damaged (Seal.hpp), is no
/// stereosweep result, has another major schema version, or its axes and cubes do not fit each other; the others
/// base::Error. HDF5 1.10 hangs or crashes on some damaged files: before it sees one here a child process reads its
/// texts, and of a file without a seal everything.
class ResultFile : public OpenFile {
 public:
  explicit ResultFile(const std::filesystem::path& path);
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;
  /// Opens and reads, nothing checked before; for a process that may hang. `step` is called after each part.
  enum class Depth { texts, everything };
  static void read_through(const std::filesystem::path& path, Depth depth, const std::function<void()>& step);
  /// As exported (status cubes know "not_scored"); inner axes in the order of the file.
  const RawSchema& schema() const { return schema_; }
  std::uint64_t num_contexts() const { return num_contexts_; }
  /// Contexts of one subject.
  std::uint64_t contexts_per_subject() const { return num_contexts_ / schema_.outer_axes.front().labels.size(); }
  /// The file's bytes are those that were written.
  bool has_seal() const { return has_seal_; }
  /// Every block was scored that the run wants.
  bool complete() const;
  /// Of a complete result of a run that asks in rounds: some blocks were not asked, since all was decided without them.
  bool has_stopped() const;
  /// A document of /provenance; nothing where it does not exist.
  std::optional<std::string> document(const std::string& name) const;
  /// Raw numbers of contexts [first, first + count).
  RawBlock read(std::uint64_t first, std::uint64_t count) const;
  /// All contexts in order, read 64 MiB at a time: use(context, the block it was read with, its place in there).
  void for_each_context(const std::function<void(std::uint64_t, const RawBlock&, std::uint64_t)>& use) const;
  /// How many contexts fit a budget of memory (at least 1).
  std::uint64_t contexts_within(std::uint64_t bytes) const;

 private:
  ResultFile(const std::filesystem::path& path, Seal seal);
  /// `texts`: other columns are left empty.
  RawBlock read_cubes(std::uint64_t first, std::uint64_t count, Depth depth) const;
  void read_schema();
  void read_outer_axes(const std::string& names);
  void read_cube(const std::string& name);

  struct Cube {
    std::optional<hdf5::DataSet> prior;
    hdf5::DataSet group;
  };
  bool has_seal_;
  RawSchema schema_;
  std::vector<Cube> cubes_;
  std::uint64_t num_contexts_ = 0;
};

/// RawDigest of its numbers; blocks that are not scored count as their fill values.
base::Digest digest_of_file(const ResultFile& file);

/// The same in hexadecimal; where the file says it under its seal it is not computed again.
std::string stated_digest(const ResultFile& file);

}  // namespace stereosweep::results
