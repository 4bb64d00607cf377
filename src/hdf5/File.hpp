// Files and groups.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "hdf5/DataSet.hpp"

namespace stereosweep::hdf5 {

/// A group; members keep the order of their creation and carry no times (equal input, equal bytes).
/// Reading refuses soft and external links, virtual and external storage: a result keeps its data in itself.
class Group : public Object {
 public:
  using Object::Object;
  Group create_group(const std::string& name);
  Group open_group(const std::string& name) const;
  /// Arrays of one axis or more are chunked, shuffled and deflated (`deflate_level`), but for those of a `ShortLived`.
  DataSet create_dataset(const std::string& name, const DataSetSpec& spec);
  DataSet open_dataset(const std::string& name) const;
  /// A one-dimensional text array, written.
  DataSet create_texts(const std::string& name, std::span<const std::string> values);
  /// One text without an axis.
  void create_text(const std::string& name, const std::string& value);
  bool contains(const std::string& name) const;
  /// Names of members, in order of creation.
  std::vector<std::string> names() const;
};

/// While it lives, arrays that its thread creates are not compressed: of files that are read once and removed.
class ShortLived {
 public:
  ShortLived();
  ShortLived(const ShortLived&) = delete;
  ShortLived& operator=(const ShortLived&) = delete;
  ~ShortLived();
};

/// First called before any other call of HDF5, and before threads start: HDF5_USE_FILE_LOCKING counts for more than the
/// file's own properties, and cluster modules set it to what network file systems refuse. Returns what it said where it
/// asked for locks; "" elsewhere.
const std::string& switch_off_file_locks();

/// A file that is written once or read. No file locks are taken: a written file has a name of its own until it is
/// whole, and network file systems refuse them (errno 11, 37, 38, 524).
class File {
 public:
  /// Truncates what is there.
  static File create(const std::filesystem::path& path);
  static File open(const std::filesystem::path& path);
  /// Reads a file whose bytes are in memory, without a copy; they must stay there, unchanged. `name` is for messages.
  static File open_image(std::span<const std::byte> bytes, const std::string& name);
  Group& root() { return root_; }
  const Group& root() const { return root_; }
  /// How many bytes of the file lie behind the end that HDF5 knows.
  std::uint64_t trailing_bytes() const;
  /// Flushes and closes; syncing is its PendingFile's business. H5Fclose alone reports success on a full disk, so the
  /// flush is what counts.
  /// All other handles of the file must be gone. Throws base::Error; the file is then not to be used.
  void finish();

 private:
  File(Handle handle, std::filesystem::path path);
  Handle handle_;
  Group root_;
  std::filesystem::path path_;
};

/// Bytes of a chunk, and of each open array's chunk cache.
constexpr std::uint64_t chunk_bytes = std::uint64_t{1} << 18;
constexpr std::uint64_t chunk_cache_bytes = std::uint64_t{1} << 20;

}  // namespace stereosweep::hdf5
