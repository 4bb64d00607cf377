#include "support/FakeDevice.hpp"

#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "support/FakeDeviceState.hpp"
#include "support/FakeKernels.hpp"

namespace stereosweep::testing {
namespace {

constexpr auto device_type = c10::DeviceType::PrivateUse1;
constexpr std::size_t alignment = 64;
constexpr int poison = 0xFF;  // NaN in every floating type, -1 in every other

std::mutex& memory_mutex() {
  static std::mutex mutex;
  return mutex;
}

void protect(const DeviceBlock& block, int protection) {
  TORCH_CHECK(::mprotect(block.memory, block.bytes, protection) == 0, "mprotect: ", std::strerror(errno));
}

class DeviceAllocator : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    const c10::Device device(device_type, 0);
    if (bytes == 0) {
      return {nullptr, device};
    }
    auto* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    TORCH_CHECK(memory != MAP_FAILED, "mmap of ", bytes, " bytes: ", std::strerror(errno));
    std::memset(memory, poison, bytes);
    auto* block = new DeviceBlock{memory, bytes};
    protect(*block, PROT_NONE);
    return {memory, block, &release, device};
  }
  void copy_data(void*, const void*, std::size_t) const override { TORCH_CHECK(false, "nobody copies so"); }

 private:
  static void release(void* context) {
    auto* block = static_cast<DeviceBlock*>(context);
    try {
      fake_stream().check_untouched(*block);
    } catch (const c10::Error& error) {
      std::fprintf(stderr, "freed: %s\n", error.what_without_backtrace());
      std::abort();
    }
    ::munmap(block->memory, block->bytes);
    delete block;
  }
};

std::map<const char*, std::size_t>& pinned_blocks() {
  static std::map<const char*, std::size_t> blocks;
  return blocks;
}

class PinnedAllocator : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    auto* memory = std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
    TORCH_CHECK(memory != nullptr, "no memory");
    const std::lock_guard lock(memory_mutex());
    pinned_blocks()[static_cast<const char*>(memory)] = bytes;
    return {memory, memory, [](void* context) { fake_stream().release_pinned(context); }, c10::Device(c10::kCPU)};
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }
};

// One device; one stream and a second one for kernels of other libraries.
struct FakeGuard final : c10::impl::DeviceGuardImplInterface {
  using Stream = c10::Stream;
  using Mark = FakeStream::Mark;
  static c10::Device only() { return {device_type, 0}; }
  static Stream second() { return Stream(Stream::UNSAFE, only(), 1); }
  static bool is_second(const Stream& stream) { return stream == second(); }
  c10::DeviceType type() const override { return device_type; }
  c10::Device exchangeDevice(c10::Device) const override { return only(); }
  c10::Device getDevice() const override { return only(); }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  Stream getStream(c10::Device) const override { return Stream(Stream::DEFAULT, only()); }
  Stream getDefaultStream(c10::Device) const override { return Stream(Stream::DEFAULT, only()); }
  Stream getStreamFromGlobalPool(c10::Device, bool) const override { return second(); }
  Stream getNewStream(c10::Device, int) const override { TORCH_CHECK(false, "a stream of its own"); }
  Stream exchangeStream(Stream stream) const override {
    TORCH_CHECK(!is_second(stream), "torch's kernels on the second stream");
    return Stream(Stream::DEFAULT, only());
  }
  void* getStreamNativeHandle(const Stream stream) const {  // not virtual in torch 2.10
    return reinterpret_cast<void*>(static_cast<std::intptr_t>(stream.id()));
  }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  bool queryStream(const Stream&) const override { return fake_stream().is_done(fake_stream().mark()); }
  void synchronizeStream(const Stream&) const override { fake_stream().synchronise(); }
  void synchronizeDevice(c10::DeviceIndex) const override {
    fake_stream().hold(false, fake_stream().mark_of_second());
    fake_stream().synchronise();
  }
  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override { delete static_cast<Mark*>(event); }
  void record(void** event, const Stream& stream, c10::DeviceIndex, c10::EventFlag) const override {
    if (*event == nullptr) {
      *event = new Mark;
    }
    *static_cast<Mark*>(*event) = is_second(stream) ? fake_stream().mark_of_second() : fake_stream().mark();
  }
  void block(void* event, const Stream& stream) const override {
    if (event != nullptr) {
      fake_stream().hold(is_second(stream), *static_cast<Mark*>(event));
    }
  }
  bool queryEvent(void* event) const override {
    return event == nullptr || fake_stream().is_done(*static_cast<Mark*>(event));
  }
  void synchronizeEvent(void* event) const override {
    if (event != nullptr) {
      fake_stream().wait_for(*static_cast<Mark*>(event));
    }
  }
};

struct FakeHooks : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  void setCurrentDevice(c10::DeviceIndex) const override {}
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex) const override { return 0; }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex) const override { return 0; }
  bool isPinnedPtr(const void* memory) const override { return is_pinned(memory); }
  c10::Allocator* getPinnedMemoryAllocator() const override { return &pinned_allocator(); }
  at::Device getDeviceFromPtr(void*) const override { return FakeGuard::only(); }
  void resizePrivateUse1Bytes(const c10::Storage& storage, std::size_t bytes) const override {
    auto larger = device_allocator().allocate(bytes);
    const auto kept = std::min(bytes, storage.nbytes());
    if (kept > 0) {
      for (auto* context : {larger.get_context(), storage.data_ptr().get_context()}) {
        protect(*static_cast<DeviceBlock*>(context), PROT_READ | PROT_WRITE);
      }
      std::memcpy(larger.get(), storage.data(), kept);
      protect(*static_cast<DeviceBlock*>(larger.get_context()), PROT_NONE);
    }
    storage.set_data_ptr_noswap(std::move(larger));
    storage.set_nbytes(bytes);
  }
};

}  // namespace

at::Allocator& device_allocator() {
  static DeviceAllocator allocator;
  return allocator;
}

at::Allocator& pinned_allocator() {
  static PinnedAllocator allocator;
  return allocator;
}

bool is_pinned(const void* memory) {
  const std::lock_guard lock(memory_mutex());
  const auto* place = static_cast<const char*>(memory);
  const auto after = pinned_blocks().upper_bound(place);
  if (after == pinned_blocks().begin()) {
    return false;
  }
  const auto& [begin, bytes] = *std::prev(after);
  return place <= begin + bytes;
}

OpenMemory::~OpenMemory() {
  const std::lock_guard lock(memory_mutex());
  for (auto* block : blocks_) {
    if (--block->users == 0) {
      ::mprotect(block->memory, block->bytes, PROT_NONE);
    }
  }
}

at::Tensor OpenMemory::host_view(const at::Tensor& tensor) {
  const auto& storage = tensor.storage();
  if (auto* block = static_cast<DeviceBlock*>(storage.data_ptr().get_context()); block != nullptr) {
    fake_stream().check_untouched(*block);
    const std::lock_guard lock(memory_mutex());
    if (block->users++ == 0) {
      protect(*block, PROT_READ | PROT_WRITE);
    }
    blocks_.push_back(block);
  }
  c10::DataPtr place(storage.data_ptr().get(), c10::Device(c10::kCPU));
  c10::Storage same(c10::Storage::use_byte_size_t{}, storage.nbytes(), std::move(place), c10::GetAllocator(c10::kCPU),
                    true);
  auto view = at::detail::make_tensor<c10::TensorImpl>(std::move(same), c10::DispatchKeySet(c10::DispatchKey::CPU),
                                                       tensor.dtype());
  view.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(), tensor.strides(), tensor.storage_offset());
  return view;
}

void run_on_device(const std::string& name, void* memory, std::size_t bytes, std::function<void()> kernel,
                   void* stream) {
  const auto page = static_cast<std::size_t>(::getpagesize());
  const auto before = reinterpret_cast<std::uintptr_t>(memory) % page;
  const DeviceBlock pages{static_cast<char*>(memory) - before, before + bytes};
  const auto run = [pages, kernel = std::move(kernel)] {
    protect(pages, PROT_READ | PROT_WRITE);
    kernel();
    protect(pages, PROT_NONE);
  };
  if (stream != nullptr) {
    fake_stream().launch_beside(name, pages, run);
    return;
  }
  fake_stream().launch("aten::" + name);
  run();
}

bool is_on_device(const at::Tensor& tensor) { return tensor.defined() && tensor.device().type() == device_type; }

at::Tensor on_fake_device(const at::Tensor& host) {
  if (!host.defined()) {
    return host;
  }
  const auto options = host.options().device(FakeGuard::only()).pinned_memory(false);
  const auto dense = host.is_non_overlapping_and_dense() ? host : host.contiguous();
  auto out = at::empty_strided(dense.sizes(), dense.strides(), options);
  OpenMemory open;
  open.host_view(out).copy_(dense);
  return out;
}

FakeStream& fake_stream() {
  static auto* const stream = new FakeStream;  // pinned memory may be released after main
  return *stream;
}

void FakeStream::launch(const std::string& name, std::int64_t times) {
  std::unique_lock lock(mutex_);
  if (times == 0) {
    return;
  }
  finish_some(lock);
  counts_.operators.insert(name);
  const auto begin = name.find("::") + 2;
  counts_.launches[name.substr(begin, name.find('.') - begin)] += times;
  ++issued_;
  if (!batch_is_open_) {
    batch_is_open_ = true;
    busy_until_ = std::max(busy_until_, Clock::now()) + busy_time_;
  }
}

void FakeStream::gather(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  counts_.gathered_bytes += bytes;
}

void FakeStream::upload(const void* from, std::size_t bytes, bool waits) {
  std::unique_lock lock(mutex_);
  ++issued_;
  if (waits) {
    ++counts_.waiting_uploads;
    finish(issued_, busy_until_, lock);
    return;
  }
  ++counts_.non_blocking_copies;
  const auto* begin = static_cast<const char*>(from);
  copies_.push_back({issued_, true, const_cast<void*>(from), {begin, begin + bytes}});
}

void FakeStream::download(void* to, const void* numbers, std::size_t bytes, bool waits) {
  std::unique_lock lock(mutex_);
  ++issued_;
  batch_is_open_ = false;
  if (waits) {
    ++counts_.waiting_downloads;
    std::memmove(to, numbers, bytes);
    finish(issued_, busy_until_, lock);
    return;
  }
  ++counts_.non_blocking_copies;
  const auto* begin = static_cast<const char*>(numbers);
  copies_.push_back({issued_, false, to, {begin, begin + bytes}});
  std::memset(to, 0xFF, bytes);
}

void FakeStream::synchronise() { wait_for(mark()); }

FakeStream::Mark FakeStream::mark() {
  const std::lock_guard lock(mutex_);
  return {issued_, false, busy_until_};
}

FakeStream::Mark FakeStream::mark_of_second() {
  const std::lock_guard lock(mutex_);
  return {side_issued_, true, {}};
}

void FakeStream::hold(bool second, const Mark& mark) {
  std::unique_lock lock(mutex_);
  if (second && !mark.is_of_second) {
    side_sees_ = std::max(side_sees_, mark.number);
  } else if (!second && mark.is_of_second) {
    run_second(mark.number, lock);
  }
}

void FakeStream::launch_beside(const std::string& name, const DeviceBlock& memory, std::function<void()> kernel) {
  std::unique_lock lock(mutex_);
  TORCH_CHECK(side_sees_ == issued_, name, " on the second stream may run before what the current one was given");
  ++counts_.launches[name];
  ++counts_.side_launches;
  ++side_issued_;
  beside_.push_back({memory, std::move(kernel)});
  finish_some(lock);
}

void FakeStream::run_second(std::int64_t until, std::unique_lock<std::mutex>& lock) {
  while (side_done_ < until) {
    const auto kernel = std::move(beside_.front());
    beside_.pop_front();
    ++side_done_;
    lock.unlock();
    kernel.run();
    lock.lock();
  }
}

void FakeStream::check_untouched(const DeviceBlock& memory) {
  const std::lock_guard lock(mutex_);
  const auto* const begin = static_cast<const char*>(memory.memory);
  for (const auto& kernel : beside_) {
    const auto* const other = static_cast<const char*>(kernel.memory.memory);
    TORCH_CHECK(other + kernel.memory.bytes <= begin || begin + memory.bytes <= other,
                "memory that a kernel of the second stream is still to write");
  }
}

void FakeStream::wait_for(const Mark& mark) {
  std::unique_lock lock(mutex_);
  if (mark.is_of_second) {
    run_second(mark.number, lock);
    ++counts_.synchronisations;
  } else if (mark.number > done_) {
    ++counts_.synchronisations;
    finish(mark.number, mark.time, lock);
  }
}

bool FakeStream::is_done(const Mark& mark) {
  std::unique_lock lock(mutex_);
  if (mark.is_of_second) {
    return mark.number <= side_done_;
  }
  if (mark.number > done_ && mark.time <= Clock::now()) {
    finish(mark.number, mark.time, lock);
  }
  return mark.number <= done_;
}

void FakeStream::finish(std::int64_t number, Clock::time_point time, std::unique_lock<std::mutex>& lock) {
  if (time > Clock::now()) {
    lock.unlock();
    std::this_thread::sleep_until(time);
    lock.lock();
  }
  done_ = std::max(done_, number);
  bool overwritten = false;
  std::erase_if(copies_, [&](const Copy& copy) {
    if (copy.number > done_) {
      return false;
    }
    if (copy.is_upload) {
      overwritten = overwritten || std::memcmp(copy.host, copy.bytes.data(), copy.bytes.size()) != 0;
    } else {
      std::memcpy(copy.host, copy.bytes.data(), copy.bytes.size());
    }
    return true;
  });
  if (copies_.empty()) {
    for (auto* memory : released_) {
      std::free(memory);
    }
    released_.clear();
  }
  TORCH_CHECK(!overwritten, "the host wrote into pinned memory that a copy was still to read");
}

// The device comes as far as it likes.
void FakeStream::finish_some(std::unique_lock<std::mutex>& lock) {
  if (!copies_are_late_ && done_ < issued_ && moments_() % 4 == 0) {
    finish(std::uniform_int_distribution<std::int64_t>(done_, issued_)(moments_), {}, lock);
  }
  if (!copies_are_late_ && !beside_.empty() && moments_() % 2 == 0) {
    run_second(std::uniform_int_distribution<std::int64_t>(side_done_, side_issued_)(moments_), lock);
  }
}

void FakeStream::set_copy_order(std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  copies_are_late_ = seed == 0;
  moments_.seed(static_cast<std::minstd_rand::result_type>(seed));
}

void FakeStream::release_pinned(void* memory) {
  {
    const std::lock_guard lock(memory_mutex());
    pinned_blocks().erase(static_cast<const char*>(memory));
  }
  const std::lock_guard lock(mutex_);
  if (copies_.empty()) {
    std::free(memory);
  } else {
    released_.push_back(memory);
  }
}

DeviceCounts FakeStream::counts() {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void FakeStream::reset_counts() {
  const std::lock_guard lock(mutex_);
  counts_ = {};
}

void FakeStream::set_busy_time(std::chrono::microseconds time) {
  const std::lock_guard lock(mutex_);
  busy_time_ = time;
}

std::int64_t DeviceCounts::all_launches() const {
  std::int64_t sum = 0;
  for (const auto& [name, count] : launches) {
    sum += count;
  }
  return sum;
}

at::Device fake_device() {
  static const bool registered = [] {
    static FakeGuard guard;
    static FakeHooks hooks;
    c10::register_privateuse1_backend("fake");
    c10::impl::registerDeviceGuard(device_type, &guard);
    c10::SetAllocator(device_type, &device_allocator());
    at::RegisterPrivateUse1HooksInterface(&hooks);
    register_fake_kernels();
    return true;
  }();
  static_cast<void>(registered);
  return FakeGuard::only();
}

DeviceCounts device_counts() { return fake_stream().counts(); }
void reset_device_counts() { fake_stream().reset_counts(); }
void set_busy_time(std::chrono::microseconds time) { fake_stream().set_busy_time(time); }
void set_copy_order(std::uint64_t seed) { fake_stream().set_copy_order(seed); }

}  // namespace stereosweep::testing
