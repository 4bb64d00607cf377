#include "corpus/Files.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::corpus {
namespace {

namespace filesystem = std::filesystem;
Corpus::Format format_of(std::string_view label, Corpus::Format wanted) {
  return wanted != Corpus::Format::automatic ? wanted
         : label.ends_with(".jsonl")         ? Corpus::Format::json_lines
                                             : Corpus::Format::text;
}

// In ns since 1970, as the file system keeps it.
std::int64_t modified(const filesystem::path& path) {
  std::error_code ignored;
  const auto time = std::chrono::file_clock::to_sys(filesystem::last_write_time(path, ignored));
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

class Lister {
 public:
  explicit Lister(Corpus::Format format) : format_(format) {}

  void add(const filesystem::path& path) {
    std::error_code status;
    if (filesystem::is_directory(path, status)) {
      add_directory(path);
    } else {
      add_file(path, path.filename());
    }
  }

  std::vector<CorpusFile> take() {
    std::sort(files_.begin(), files_.end(), [](const auto& one, const auto& other) {
      return std::tie(one.label, one.path) < std::tie(other.label, other.path);
    });
    for (std::size_t i = 1; i < files_.size(); ++i) {
      if (files_[i].label == files_[i - 1].label) {
        problems_.add(base::Place{files_[i].path.string(), 0, ""},
                      "its contexts would be named as those of " + files_[i - 1].path.string(),
                      "both are '" + files_[i].label + "' below what is listed, without .gz, .bz2 or .zst",
                      "list a directory above them, or rename one");
      }
    }
    problems_.raise_if_any("the corpus cannot be read");
    return std::move(files_);
  }

 private:
  void add_directory(const filesystem::path& directory) {
    std::error_code status;
    filesystem::recursive_directory_iterator at(directory, status);
    const auto before = files_.size();
    for (; !status && at != filesystem::recursive_directory_iterator(); at.increment(status)) {
      const bool hidden = at->path().filename().string().starts_with('.');
      std::error_code ignored;
      const bool is_directory = at->is_directory(ignored);
      if (hidden && is_directory) {
        at.disable_recursion_pending();
      } else if (!hidden && !is_directory) {
        add_file(at->path(), at->path().lexically_relative(directory));
      }
    }
    if (status) {
      problems_.add(base::Place{directory.string(), 0, ""}, "cannot list the directory", status.message());
    } else if (files_.size() == before && problems_.empty()) {
      problems_.add(base::Place{directory.string(), 0, ""}, "there is no file in this directory",
                    "a corpus needs text");
    }
  }

  void add_file(const filesystem::path& path, const filesystem::path& name) {
    try {
      const auto opened = base::open_file(path);
      CorpusFile file{{name.generic_string(), opened.size(), modified(path)}, path, compression_of(path, opened)};
      for (const auto ending : compressed_endings) {
        if (file.label.ends_with(ending)) {
          file.label.resize(file.label.size() - ending.size());
          break;
        }
      }
      file.format = format_of(file.label, format_);
      base::refuse_if(base::find_invalid_utf8(file.label) || file.label.empty(), path.string() + " has no usable name",
                      "it must be valid UTF-8");
      const auto [known, is_new] = listed_.emplace(filesystem::canonical(path), path);
      base::refuse_if(!is_new, path.string() + " is read twice", "it is " + known->second.string());
      files_.push_back(std::move(file));
    } catch (const base::InputError& error) {
      problems_.add({}, error.what(), "");
    }
  }

  Corpus::Format format_;
  std::vector<CorpusFile> files_;
  std::map<filesystem::path, filesystem::path> listed_;
  base::Problems problems_;
};

/// A compressed byte costs about as much as so many plain ones: it becomes three to four, and inflating is slow.
constexpr std::uint64_t compressed_cost = 8;

// How many plain bytes each shard reads: all whose load is below a common level are lifted to it.
std::vector<std::uint64_t> fill_up(const std::vector<std::uint64_t>& loads, std::uint64_t plain) {
  auto lifted = loads;
  std::ranges::sort(lifted);
  auto total = std::accumulate(lifted.begin(), lifted.end(), plain);
  while (total / lifted.size() < lifted.back()) {
    total -= lifted.back();
    lifted.pop_back();
  }
  const auto level = total / lifted.size();
  auto more = total % lifted.size();  // one more byte each
  return base::mapped(loads, [&](std::uint64_t load) {
    const bool takes = more > 0 && load <= level;
    more -= takes ? 1 : 0;
    return level - std::min(load, level) + (takes ? 1 : 0);
  });
}

}  // namespace

std::vector<CorpusFile> list_files(const Corpus& corpus) {
  Lister lister(corpus.format);
  for (const auto& path : corpus.files) {
    lister.add(path);
  }
  return lister.take();
}

std::vector<FileState> file_states(const Corpus& corpus) {
  const auto files = list_files(corpus);
  return {files.begin(), files.end()};
}

FileState state_of(const std::filesystem::path& path) {
  return {path.string(), base::open_file(path).size(), modified(path)};
}

std::string changes(const std::vector<FileState>& before, const std::vector<FileState>& after) {
  constexpr std::size_t most_named = 5;
  std::vector<std::string> found;
  for (auto one = before.begin(), other = after.begin(); one != before.end() || other != after.end();) {
    if (other == after.end() || (one != before.end() && one->label < other->label)) {
      found.push_back(one++->label + " is gone");
    } else if (one == before.end() || other->label < one->label) {
      found.push_back(other++->label + " is new");
    } else {
      if (one->size != other->size) {
        found.push_back(one->label + ": " + base::counted(one->size, "byte") + " became " +
                        base::with_thousands(other->size));
      } else if (one->modified != other->modified) {
        found.push_back(one->label + " was written at another time");
      }
      ++one;
      ++other;
    }
  }
  const auto named = std::min(found.size(), most_named);
  const auto more = found.size() - named;
  return base::join(std::span(found).first(named), ", ") +
         (more > 0 ? " and " + base::counted(more, "file") + " more" : "");
}

std::vector<Piece> deal(std::span<const CorpusFile> files, Shard shard) {
  STEREOSWEEP_ASSERT(shard.index < shard.count, "shard " + std::to_string(shard.index));
  std::vector<Piece> pieces;
  std::vector<std::size_t> compressed;
  std::uint64_t plain = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].compression == Compression::none) {
      plain += files[i].size;
    } else {
      compressed.push_back(i);
    }
  }
  std::stable_sort(compressed.begin(), compressed.end(),
                   [&](std::size_t a, std::size_t b) { return files[a].size > files[b].size; });
  std::vector<std::uint64_t> loads(shard.count);
  for (const auto file : compressed) {
    const auto least = std::min_element(loads.begin(), loads.end());
    if (least - loads.begin() == static_cast<std::ptrdiff_t>(shard.index)) {
      pieces.push_back({file, 0, files[file].size});
    }
    *least += files[file].size * compressed_cost;
  }
  const auto amounts = fill_up(loads, plain);
  const auto begin =
      std::accumulate(amounts.begin(), amounts.begin() + static_cast<std::ptrdiff_t>(shard.index), std::uint64_t{0});
  const auto end = begin + amounts[shard.index];
  std::uint64_t at = 0;  // where a file begins among all plain bytes
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].compression != Compression::none) {
      continue;
    }
    const auto from = std::max(begin, at);
    const auto to = std::min(end, at + files[i].size);
    if (from < to || (files[i].size == 0 && shard.index == 0)) {  // an empty file still counts as one
      pieces.push_back({i, files[i].size == 0 ? 0 : from - at, files[i].size == 0 ? 0 : to - at});
    }
    at += files[i].size;
  }
  return pieces;
}

}  // namespace stereosweep::corpus
