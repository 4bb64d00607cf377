// One owner per HDF5 identifier, and HDF5's own words in every error.
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

}  // namespace stereosweep::hdf5
