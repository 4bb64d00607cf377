// A disk that fails at a chosen call, for tests: preloaded into the program (LD_PRELOAD), it counts the calls that
// change files below a folder, and ends the process before one of them. With "power" all that no fsync has made durable
// is lost, too:
//   contents   a file has the size that it had at its last fsync
//   names      new files, new folders and renames last from the next fsync of their folder on: with "power" they are
//              undone, with "power-names" they stay, as file systems may choose
//
//   STEREOSWEEP_STORAGE_FOLDER=FOLDER          which files are watched
//   STEREOSWEEP_STORAGE_CRASH=kind:N           kind: kill, power, power-names; N: the call, counted from 1; a number
//                                              beyond the last: at the end of the process
//   STEREOSWEEP_STORAGE_COUNT=FILE             gets the number of calls at the end of the process
//   STEREOSWEEP_STORAGE_FORGET=TEXT            fsyncs of files whose path, followed by a $, holds it make nothing
//   durable
//
// Before anything is lost, FOLDER/status.json is copied to FOLDER.seen: what a user has read.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

template <class Function>
Function* original(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

struct Rename {
  std::string from;
  std::string to;
  std::string old_target;  ///< another name of what was replaced; empty: nothing was
};

class Storage {
 public:
  static Storage& instance() {
    static auto* storage = new Storage;  // never destroyed: other destructors still write
    return *storage;
  }

  bool watches(const std::string& path) const { return !folder_.empty() && path.starts_with(folder_ + "/"); }

  std::string path_of(int handle) const {
    std::error_code unknown;
    return folder_.empty() ? "" : fs::read_symlink("/proc/self/fd/" + std::to_string(handle), unknown).string();
  }

  /// Before a call that changes something.
  void count() {
    const std::lock_guard lock(mutex_);
    if (++calls_ == crash_at_) {
      crash();
    }
  }

  void note_open(const std::string& path, bool existed, bool truncates) {
    const std::lock_guard lock(mutex_);
    if (!existed) {
      durable_size_[path] = 0;
      new_names_[path] = true;
    } else if (truncates || !durable_size_.contains(path)) {
      std::error_code unknown;
      durable_size_[path] = truncates ? 0 : fs::file_size(path, unknown);
    }
  }

  void note_folder(const std::string& path) {
    const std::lock_guard lock(mutex_);
    new_names_[path] = true;
  }

  void note_sync(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (!forgotten_.empty() && (path + "$").find(forgotten_) != std::string::npos) {
      return;
    }
    std::error_code unknown;
    if (fs::is_directory(path, unknown)) {
      std::erase_if(new_names_, [&](const auto& entry) { return fs::path(entry.first).parent_path() == path; });
      std::erase_if(renames_, [&](const Rename& entry) { return fs::path(entry.to).parent_path() == path; });
    } else {
      durable_size_[path] = fs::file_size(path, unknown);
    }
  }

  /// The name that keeps what a rename is about to replace.
  std::string keep(const std::string& target) {
    const std::lock_guard lock(mutex_);
    std::error_code failed;
    const auto kept = kept_.string() + "/" + std::to_string(calls_);
    fs::create_directories(kept_, failed);
    fs::create_hard_link(target, kept, failed);
    return failed ? "" : kept;
  }

  void note_rename(const Rename& rename) {
    const std::lock_guard lock(mutex_);
    renames_.push_back(rename);
    if (const auto known = durable_size_.extract(rename.from); !known.empty()) {
      durable_size_[rename.to] = known.mapped();
    }
    new_names_.erase(rename.from);
  }

  void note_removal(const std::string& path) {
    const std::lock_guard lock(mutex_);
    durable_size_.erase(path);
    new_names_.erase(path);
    std::erase_if(renames_, [&](const Rename& entry) { return entry.to == path; });
  }

  void end() {
    if (const auto file = setting("STEREOSWEEP_STORAGE_COUNT"); !file.empty()) {
      std::ofstream(file) << calls_ << '\n';
    }
    if (crash_at_ > calls_) {
      crash();
    }
  }

 private:
  Storage() : folder_(setting("STEREOSWEEP_STORAGE_FOLDER")), forgotten_(setting("STEREOSWEEP_STORAGE_FORGET")) {
    const auto crash = setting("STEREOSWEEP_STORAGE_CRASH");
    const auto colon = crash.find(':');
    kind_ = crash.substr(0, colon);
    crash_at_ = colon == std::string::npos ? 0 : std::stoull(crash.substr(colon + 1));
    kept_ = folder_ + ".kept." + std::to_string(::getpid());
  }

  [[noreturn]] void crash() {
    std::error_code ignored;
    folder_.swap(watched_);  // what is done here is not watched
    fs::copy_file(watched_ + "/status.json", watched_ + ".seen", fs::copy_options::overwrite_existing, ignored);
    if (kind_ != "kill") {
      lose();
    }
    fs::remove_all(kept_, ignored);
    ::raise(SIGKILL);
    std::abort();
  }

  void lose() {
    std::error_code ignored;
    for (const auto& [path, size] : durable_size_) {
      if (fs::file_size(path, ignored) > size) {
        static_cast<void>(::truncate(path.c_str(), static_cast<off_t>(size)));
      }
    }
    if (kind_ == "power-names") {
      return;
    }
    for (auto rename = renames_.rbegin(); rename != renames_.rend(); ++rename) {
      fs::rename(rename->to, rename->from, ignored);
      if (!rename->old_target.empty()) {
        fs::rename(rename->old_target, rename->to, ignored);
      }
    }
    for (const auto& [path, is_new] : new_names_) {
      fs::remove_all(path, ignored);
    }
  }

  std::mutex mutex_;
  std::string folder_;
  std::string watched_;
  std::string forgotten_;
  std::string kind_;
  fs::path kept_;
  std::uint64_t calls_ = 0;
  std::uint64_t crash_at_ = 0;
  std::map<std::string, std::uint64_t> durable_size_;
  std::map<std::string, bool> new_names_;
  std::vector<Rename> renames_;
};

std::string absolute(const char* path) {
  std::error_code unknown;
  return fs::absolute(path, unknown).lexically_normal().string();
}

template <class Call>
auto counted(int handle, Call&& call) {
  auto& storage = Storage::instance();
  if (storage.watches(storage.path_of(handle))) {
    storage.count();
  }
  return call();
}

template <class Call>
int opened(const char* name, int flags, Call&& call) {
  auto& storage = Storage::instance();
  const auto path = absolute(name);
  if ((flags & (O_CREAT | O_WRONLY | O_RDWR)) == 0 || !storage.watches(path)) {
    return call();
  }
  const bool existed = ::access(path.c_str(), F_OK) == 0;
  if (!existed || (flags & O_TRUNC) != 0) {
    storage.count();
  }
  const int handle = call();
  struct stat info {};
  if (handle >= 0 && ::fstat(handle, &info) == 0 && S_ISREG(info.st_mode)) {
    storage.note_open(path, existed, (flags & O_TRUNC) != 0);
  }
  return handle;
}

template <class Call>
int synced(int handle, Call&& call) {
  auto& storage = Storage::instance();
  const auto path = storage.path_of(handle);
  if (!storage.watches(path) && !storage.watches(path + "/.")) {
    return call();
  }
  storage.count();
  const int result = call();
  if (result == 0) {
    storage.note_sync(path);
  }
  return result;
}

mode_t mode_in(int flags, va_list arguments) { return (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0; }

__attribute__((destructor)) void end_of_process() { Storage::instance().end(); }
[[maybe_unused]] const int end_of_program = std::at_quick_exit(end_of_process);

}  // namespace

// libc's declarations name the arguments otherwise, or say noexcept.
extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const auto mode = mode_in(flags, arguments);
  va_end(arguments);
  return opened(path, flags, [&] { return original<int(const char*, int, ...)>("open")(path, flags, mode); });
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const auto mode = mode_in(flags, arguments);
  va_end(arguments);
  return opened(path, flags, [&] { return original<int(const char*, int, ...)>("open64")(path, flags, mode); });
}

ssize_t write(int handle, const void* data, size_t size) {
  return counted(handle, [&] { return original<ssize_t(int, const void*, size_t)>("write")(handle, data, size); });
}

ssize_t pwrite(int handle, const void* data, size_t size, off_t place) {
  return counted(
      handle, [&] { return original<ssize_t(int, const void*, size_t, off_t)>("pwrite")(handle, data, size, place); });
}

ssize_t pwrite64(int handle, const void* data, size_t size, off64_t place) {
  return counted(handle, [&] {
    return original<ssize_t(int, const void*, size_t, off64_t)>("pwrite64")(handle, data, size, place);
  });
}

int ftruncate(int handle, off_t size) noexcept {
  return counted(handle, [&] { return original<int(int, off_t)>("ftruncate")(handle, size); });
}

int fsync(int handle) {
  return synced(handle, [&] { return original<int(int)>("fsync")(handle); });
}

int fdatasync(int handle) {
  return synced(handle, [&] { return original<int(int)>("fdatasync")(handle); });
}

int rename(const char* from, const char* to) noexcept {
  auto& storage = Storage::instance();
  const auto call = [&] { return original<int(const char*, const char*)>("rename")(from, to); };
  if (!storage.watches(absolute(to))) {
    return call();
  }
  storage.count();
  const Rename step{absolute(from), absolute(to), storage.keep(absolute(to))};
  const int result = call();
  if (result == 0) {
    storage.note_rename(step);
  }
  return result;
}

int unlink(const char* path) noexcept {
  auto& storage = Storage::instance();
  const auto call = [&] { return original<int(const char*)>("unlink")(path); };
  if (!storage.watches(absolute(path)) || ::access(path, F_OK) != 0) {
    return call();
  }
  storage.count();
  const int result = call();
  if (result == 0) {
    storage.note_removal(absolute(path));
  }
  return result;
}

int mkdir(const char* path, mode_t mode) noexcept {
  auto& storage = Storage::instance();
  const auto call = [&] { return original<int(const char*, mode_t)>("mkdir")(path, mode); };
  if (!storage.watches(absolute(path))) {
    return call();
  }
  storage.count();
  const int result = call();
  if (result == 0) {
    storage.note_folder(absolute(path));
  }
  return result;
}

}  // extern "C"
