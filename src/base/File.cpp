#include "base/File.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "base/WriteFailure.hpp"

namespace stereosweep::base {
namespace {

constexpr std::size_t max_small_file = std::size_t{256} << 20;
constexpr std::array<std::string_view, 6> checkpoint_extensions = {".json",  ".txt",         ".jinja",
                                                                   ".model", ".safetensors", ".hdf5"};

class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags, mode_t mode = 0644)
      : value_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) {
      ::close(value_);
    }
  }
  int get() const { return value_; }

 private:
  int value_;
};

[[noreturn]] void fail(const std::filesystem::path& path, std::string_view action) {
  const auto failure = explain_write_failure(path, errno);
  throw Error(describe("cannot " + std::string(action) + " " + path.string(), failure.why, failure.advice));
}

std::uint64_t regular_size(const Descriptor& file, const std::filesystem::path& path) {
  if (file.get() < 0) {
    throw InputError(describe("cannot open " + path.string(), std::strerror(errno)));
  }
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) {
    fail(path, "stat");
  }
  if (!S_ISREG(info.st_mode)) {
    throw InputError(describe("cannot read " + path.string(), "it is no regular file"));
  }
  return static_cast<std::uint64_t>(info.st_size);
}

void write_all(const Descriptor& file, std::string_view content, const std::filesystem::path& path) {
  while (!content.empty()) {
    const auto written = ::write(file.get(), content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) {
        continue;
      }
      fail(path, "write");
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

constexpr std::string_view partial_mark = ".partial.";
constexpr std::chrono::hours longest_write{24};

std::string host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

/// Whether the writer of `NAME.partial.PROCESS@HOST` is gone. Of a writer on another host only the age is known.
bool is_stale(const std::filesystem::path& path) {
  const auto name = path.filename().string();
  const auto mark = name.rfind(partial_mark);
  if (mark == std::string::npos) {
    return false;
  }
  const auto writer = name.substr(mark + partial_mark.size());
  const auto border = writer.find('@');
  const auto process = parse_integer(std::string_view(writer).substr(0, border));
  if (!process || *process <= 0 || *process > std::numeric_limits<pid_t>::max()) {
    return false;
  }
  if (border == std::string::npos || writer.substr(border + 1) == host()) {
    return ::kill(static_cast<pid_t>(*process), 0) != 0 && errno == ESRCH;
  }
  std::error_code status;
  const auto written = std::filesystem::last_write_time(path, status);
  return !status && std::filesystem::file_time_type::clock::now() - written > longest_write;
}

}  // namespace

SharedBytes map_file(const std::filesystem::path& path) {
  const Descriptor file(path, O_RDONLY);
  const auto size = regular_size(file, path);
  if (size == 0) {
    return to_shared("");
  }
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (memory == MAP_FAILED) {
    fail(path, "map");
  }
  std::shared_ptr<const void> owner(memory, [size](const void* p) { ::munmap(const_cast<void*>(p), size); });
  return {owner, {static_cast<const std::byte*>(memory), size}, SharedBytes::Backing::mapping};
}

void release_pages(std::span<const std::byte> part, SharedBytes::Backing backing) {
  if (backing == SharedBytes::Backing::memory) {
    return;
  }
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<std::uintptr_t>(part.data());
  const auto first = (start + page - 1) / page * page;
  const auto end = (start + part.size()) / page * page;
  if (first < end) {
    ::madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);  // refused: they stay, which harms nothing
  }
}

std::string read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  const Descriptor file(path, O_RDONLY | O_NONBLOCK);  // a FIFO must not block us
  const auto size = regular_size(file, path);
  if (size > max_bytes) {
    throw InputError(describe(path.string() + " has " + std::to_string(size) + " bytes",
                              "at most " + std::to_string(max_bytes) + " are read"));
  }
  std::string content(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const auto got = ::pread(file.get(), content.data() + done, size - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      throw Error(describe("cannot read " + path.string(), got < 0 ? std::strerror(errno) : "it shrank meanwhile"));
    }
    done += static_cast<std::size_t>(got);
  }
  return content;
}

std::filesystem::path partial_path(const std::filesystem::path& path) {
  return path.string() + std::string(partial_mark) + std::to_string(::getpid()) + "@" + host();
}

void remove_stale_partials(const std::filesystem::path& directory) {
  std::error_code ignored;
  std::vector<std::filesystem::path> stale;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    if (entry.is_regular_file(ignored) && is_stale(entry.path())) {
      stale.push_back(entry.path());
    }
  }
  for (const auto& path : stale) {
    std::filesystem::remove(path, ignored);
  }
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  const auto temporary = partial_path(path);
  {
    const Descriptor file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    if (file.get() < 0) {
      fail(temporary, "create");
    }
    try {
      write_all(file, content, temporary);
      if (::fsync(file.get()) != 0) {
        fail(temporary, "fsync");
      }
      if (::rename(temporary.c_str(), path.c_str()) != 0) {
        fail(path, "rename to");
      }
    } catch (const Error&) {
      ::unlink(temporary.c_str());
      throw;
    }
  }
  const auto parent = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const Descriptor directory(parent, O_RDONLY | O_DIRECTORY);
  if (directory.get() < 0 || ::fsync(directory.get()) != 0) {
    fail(parent, "fsync");
  }
}

SharedBytes to_shared(std::string content) {
  auto owner = std::make_shared<const std::string>(std::move(content));
  return {owner, std::as_bytes(std::span(owner->data(), owner->size()))};
}

const SharedBytes* FileSet::find(const std::string& name) const {
  const auto it = files_.find(name);
  return it == files_.end() ? nullptr : &it->second;
}

const SharedBytes& FileSet::at(const std::string& name) const {
  const auto* file = find(name);
  if (file == nullptr) {
    throw InputError(describe(directory_ + "/" + name + " is missing", "the model directory needs it"));
  }
  return *file;
}

bool is_weight_file(std::string_view name) { return name.ends_with(".safetensors") || name.ends_with(".hdf5"); }

std::map<std::string, std::uint64_t> list_checkpoint_files(const std::filesystem::path& directory) {
  std::error_code status;
  if (!std::filesystem::is_directory(directory, status)) {
    throw InputError(describe("cannot read the model directory " + directory.string(),
                              status ? status.message() : "it is no directory"));
  }
  std::map<std::string, std::uint64_t> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory, status)) {
    const auto extension = entry.path().extension().string();
    if (entry.is_regular_file(status) &&
        std::ranges::find(checkpoint_extensions, extension) != checkpoint_extensions.end()) {
      names[entry.path().filename().string()] = entry.file_size(status);
    }
  }
  return names;
}

FileSet read_checkpoint_files(const std::filesystem::path& directory, CheckpointPart part) {
  FileSet files(directory.string());
  for (const auto& [name, size] : list_checkpoint_files(directory)) {
    const auto path = directory / name;
    if (!is_weight_file(name)) {
      files.add(name, to_shared(read_file(path, max_small_file)));
    } else if (part == CheckpointPart::all_files) {
      files.add(name, map_file(path));
    }
  }
  return files;
}

}  // namespace stereosweep::base
