// Every reader of files and texts from outside as a function of bytes, with a small corpus (README.md).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace stereosweep::readers {

/// It returns where it takes the bytes and throws base::Error where it refuses them; anything else, also an answer that
/// breaks what its header promises, is a fault.
struct Reader {
  std::string name;  ///< as its folder of the corpus
  void (*read)(std::string_view bytes);
};

std::span<const Reader> all_readers();

enum class Outcome { taken, refused };
Outcome read_with(const Reader& reader, std::string_view bytes);

}  // namespace stereosweep::readers
