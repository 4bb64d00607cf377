#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/files/File.hpp"

namespace stereosweep::tokenizer {

/// A checkpoint's files, given as (name, content).
inline base::FileSet files_with(const std::vector<std::pair<std::string, std::string>>& contents) {
  base::FileSet files("models/x");
  for (const auto& [name, content] : contents) {
    files.add(name, base::to_shared(content));
  }
  return files;
}

}  // namespace stereosweep::tokenizer
