// One owner per HDF5 identifier, HDF5's own words in every error, and the types of elements.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace stereosweep::hdf5 {

/// HDF5's hid_t, so that headers of this room need no hdf5.h.
using Id = std::int64_t;

/// Returns `value` where it is not negative. Otherwise throws base::Error "problem (HDF5's error stack)".
Id checked(Id value, std::string_view problem);

/// Silences HDF5's own printing, forbids filter plugins (a file names libraries that would be loaded) and HDF5's
/// clean-up at exit. Idempotent; comes before any other call.
void prepare_library();

/// Version of the library that is loaded: "1.10.8".
std::string library_version();

/// Owns one identifier; move-only. The destructor never throws.
class Handle {
 public:
  using Close = int (*)(Id);
  Handle() = default;
  /// Takes `id` over; throws base::Error with `problem` if it is negative.
  Handle(Id id, Close closer, std::string_view problem);
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle();
  Id id() const { return id_; }
  /// Closes now. Throws base::Error with `problem` if HDF5 refuses.
  void close(std::string_view problem);

 private:
  Id id_ = -1;
  Close close_ = nullptr;
};

/// The element types that a result may have: those that every reader opens (netCDF4, h5netcdf, h5py). The numbers stand
/// in journals and digests.
enum class ElementType : std::uint8_t { float64 = 0, int32 = 1, uint8 = 2, text = 3, float32 = 4 };

/// The variable-length UTF-8 text type.
Handle text_type();
/// Type in files: little-endian numbers, UTF-8 text.
Handle file_type(ElementType type);
/// Type in memory: double, std::int32_t, std::uint8_t, char*, float.
Handle memory_type(ElementType type);
/// Bytes of one element in memory.
std::uint64_t element_size(ElementType type);

/// HDF5 ends a text at its first zero byte and would lose the rest. Throws base::Error that names `where`.
void require_no_zero_byte(std::string_view text, const std::string& where);

}  // namespace stereosweep::hdf5
