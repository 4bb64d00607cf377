// One reader under libFuzzer, which calls it with changed inputs; the environment variable STEREOSWEEP_FUZZ names it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "readers/Readers.hpp"

namespace stereosweep::readers {
namespace {

const Reader& chosen_reader() {
  const char* name = std::getenv("STEREOSWEEP_FUZZ");
  const auto readers = all_readers();
  const auto found = std::ranges::find(readers, std::string_view(name == nullptr ? "" : name), &Reader::name);
  if (found == readers.end()) {
    std::cerr << "STEREOSWEEP_FUZZ names no reader; there are:";
    for (const auto& reader : readers) {
      std::cerr << ' ' << reader.name;
    }
    std::cerr << '\n';
    std::quick_exit(2);  // libFuzzer calls an exit a crash
  }
  return *found;
}

}  // namespace
}  // namespace stereosweep::readers

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto& reader = stereosweep::readers::chosen_reader();
  stereosweep::readers::read_with(reader, {reinterpret_cast<const char*>(data), size});
  return 0;
}
