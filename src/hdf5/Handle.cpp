#include "hdf5/Handle.hpp"

#include <hdf5.h>

#include <vector>

#include "base/Error.hpp"
#include "base/files/PendingFile.hpp"

namespace stereosweep::hdf5 {

static_assert(sizeof(hid_t) == sizeof(Id));

namespace {

/// Innermost entry first: that one knows the reason (errno, name), the outer ones only where it passed through.
herr_t collect(unsigned /*level*/, const H5E_error2_t* entry, void* data) {
  auto& lines = *static_cast<std::vector<std::string>*>(data);
  lines.emplace_back(entry->desc != nullptr ? entry->desc : "");
  return 0;
}

/// What stands in quotes behind `mark`; empty if there is none.
std::string quoted_behind(std::string_view mark, const std::string& line) {
  const auto start = line.find(mark);
  const auto end = start == std::string::npos ? start : line.find('\'', start + mark.size());
  return end == std::string::npos ? "" : line.substr(start + mark.size(), end - start - mark.size());
}

/// "file write failed: time = ..., filename = ..., errno = 28, error message = 'No space left on device', buf = 0x..."
/// without all that a user cannot act on.
base::WriteFailure system_reason(const std::string& line) {
  const auto reason = quoted_behind("error message = '", line);
  if (reason.empty()) {
    return {line, ""};
  }
  const auto file = quoted_behind("name = '", line);  // also of "filename"
  auto failure = base::explain_write_failure(file, reason);
  failure.why = line.substr(0, line.find(':')) + (file.empty() ? "" : " of '" + file + "'") + ": " + failure.why;
  return failure;
}

base::WriteFailure read_error_stack() {
  std::vector<std::string> lines;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, collect, &lines);
  H5Eclear2(H5E_DEFAULT);
  if (lines.empty()) {
    return {"no reason given", ""};
  }
  auto failure = system_reason(lines.front());
  failure.why += lines.size() == 1 ? "" : "; " + lines.back();
  return failure;
}

Handle copy_type(hid_t type) { return {H5Tcopy(type), H5Tclose, "cannot copy an HDF5 type"}; }

struct Numbers {
  hid_t in_file;
  hid_t in_memory;
  std::uint64_t size;
};

/// Of the types that are no text.
Numbers numbers_of(ElementType type) {
  switch (type) {
    case ElementType::float64:
      return {H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, sizeof(double)};
    case ElementType::int32:
      return {H5T_STD_I32LE, H5T_NATIVE_INT32, sizeof(std::int32_t)};
    case ElementType::uint8:
      return {H5T_STD_U8LE, H5T_NATIVE_UINT8, sizeof(std::uint8_t)};
    default:
      return {H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, sizeof(float)};
  }
}

}  // namespace

Id checked(Id value, std::string_view problem) {
  if (value < 0) {
    const auto failure = read_error_stack();
    base::fail(problem, "HDF5: " + failure.why, failure.advice);
  }
  return value;
}

void prepare_library() {
  // After a full disk, HDF5's clean-up at exit writes what failed once more and crashes (1.10.8): the exit status would
  // be a signal's. Files are closed by their owners, so nothing is left for it to do. First call wins, and must be
  // first.
  static const bool no_clean_up = H5dont_atexit() >= 0;
  base::fail_if(!no_clean_up || H5open() < 0, "cannot start HDF5", "H5open failed");
  checked(H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr), "cannot silence HDF5");
  checked(H5PLset_loading_state(0), "cannot forbid HDF5 plugins");
}

std::string library_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  checked(H5get_libversion(&major, &minor, &release), "cannot ask HDF5 for its version");
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

Handle::Handle(Id id, Close closer, std::string_view problem) : id_(checked(id, problem)), close_(closer) {}

Handle::~Handle() {
  if (id_ >= 0 && close_(id_) < 0) {
    H5Eclear2(H5E_DEFAULT);  // the cause was thrown before
  }
}

void Handle::close(std::string_view problem) {
  if (id_ >= 0) {
    checked(close_(std::exchange(id_, -1)), problem);
  }
}

Handle text_type() {
  auto type = copy_type(H5T_C_S1);
  checked(H5Tset_size(type.id(), H5T_VARIABLE), "cannot make a text type");
  checked(H5Tset_cset(type.id(), H5T_CSET_UTF8), "cannot make a text type");
  return type;
}

Handle file_type(ElementType type) {
  return type == ElementType::text ? text_type() : copy_type(numbers_of(type).in_file);
}

Handle memory_type(ElementType type) {
  return type == ElementType::text ? text_type() : copy_type(numbers_of(type).in_memory);
}

std::uint64_t element_size(ElementType type) {
  prepare_library();  // the table of types asks HDF5
  return type == ElementType::text ? sizeof(char*) : numbers_of(type).size;
}

void require_no_zero_byte(std::string_view text, const std::string& where) {
  if (text.find('\0') != std::string_view::npos) {
    base::fail("cannot write " + where, "its text holds a zero byte, where HDF5 would cut it");
  }
}

}  // namespace stereosweep::hdf5
