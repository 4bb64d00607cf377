// The fake device's operators: most run the CPU's kernels on the device's memory.
#include "support/FakeKernels.hpp"

#include <ATen/EmptyTensor.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/resize_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include <memory>

#include "support/FakeDeviceState.hpp"

namespace stereosweep::testing {
namespace {

using c10::IValue;

std::string full_name(const c10::FunctionSchema& schema) {
  return schema.name() + (schema.overload_name().empty() ? "" : "." + schema.overload_name());
}

/// Calls visit(tensor) for every defined tensor in a value.
template <class Visit>
void for_tensors(const IValue& value, const Visit& visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) {
      visit(value.toTensor());
    }
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorList()) {
      visit(tensor);
    }
  } else if (value.isOptionalTensorList()) {
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorList()) {
      if (tensor && tensor->defined()) {
        visit(*tensor);
      }
    }
  }
}

/// The same value with change(tensor) in the place of every defined tensor.
template <class Change>
IValue with_tensors(const IValue& value, const Change& change) {
  if (value.isTensor()) {
    return value.toTensor().defined() ? IValue(change(value.toTensor())) : value;
  }
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorList()) {
      list.push_back(change(tensor));
    }
    return list;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorList()) {
      list.push_back(tensor && tensor->defined() ? std::optional(change(*tensor)) : tensor);
    }
    return list;
  }
  return value;
}

// CUDA's kernels of numbers one by one take a number of the CPU beside their tensors; others do not.
bool takes_numbers_of_host(const std::string& name) {
  static const std::set<std::string> names = {
      "add",         "add_",        "sub",      "sub_",         "rsub",        "mul",
      "mul_",        "div",         "div_",     "eq",           "ne",          "lt",
      "le",          "gt",          "ge",       "where",        "pow",         "maximum",
      "minimum",     "logical_and", "fmod",     "masked_fill_", "masked_fill", "remainder",
      "logical_or",  "addcmul",     "addcmul_", "clamp",        "bitwise_and", "floor_divide",
      "fill_",       "eq_",         "clamp_",   "pow_",         "index_put_",  "_index_put_impl_",
      "logical_xor", "addcdiv",     "addcdiv_", "atan2"};
  return names.contains(name);
}

void check_devices(const std::string& name, const std::vector<IValue>& arguments) {
  for (const auto& argument : arguments) {
    for_tensors(argument, [&](const at::Tensor& tensor) {
      TORCH_CHECK(is_on_device(tensor) || (tensor.dim() == 0 && takes_numbers_of_host(name)),
                  "Expected all tensors to be on the same device: ", name, " was given one on ", tensor.device(),
                  " beside those on the fake device");
    });
  }
}

// Kernels that CUDA starts for one call: a product that adds a whole matrix copies it first, and the largest numbers
// are looked for in a copy of what is not contiguous.
std::int64_t kernels_of(const std::string& name, const std::vector<IValue>& arguments) {
  if (name == "addmm" && arguments.size() == 6) {
    const auto& added = arguments[0].toTensor();
    const bool in_place = arguments[5].isTensor() && arguments[5].toTensor().is_same(added);
    return in_place || (added.dim() == 1 && added.is_contiguous()) ? 1 : 2;
  }
  if (name == "topk") {
    return arguments[0].toTensor().is_contiguous() ? 1 : 2;
  }
  return 1;
}

bool gathers(const std::string& name) {
  static const std::set<std::string> names = {"index_select", "index", "gather", "take", "embedding"};
  return names.contains(name);
}

bool asks_for_size(const std::string& name) {
  static const std::set<std::string> names = {"nonzero", "masked_select", "_unique2",          "unique_dim",
                                              "equal",   "bincount",      "repeat_interleave", "unique_consecutive"};
  return names.contains(name);
}

// The tensor that the schema says a result is, or null: a new one.
const at::Tensor* written(const c10::FunctionSchema& schema, std::size_t result, const std::vector<IValue>& arguments) {
  const auto* alias = schema.returns()[result].alias_info();
  if (alias == nullptr || !alias->isWrite()) {
    return nullptr;
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto* other = schema.arguments()[i].alias_info();
    if (other != nullptr && other->isWrite() && other->beforeSets() == alias->beforeSets() && arguments[i].isTensor()) {
      return &arguments[i].toTensor();
    }
  }
  return nullptr;
}

// A result that lies in the memory of an argument is a view of it.
std::optional<at::Tensor> view_of_argument(const at::Tensor& host, const std::vector<IValue>& arguments) {
  std::optional<at::Tensor> found;
  for (const auto& argument : arguments) {
    for_tensors(argument, [&](const at::Tensor& tensor) {
      const auto* memory = tensor.storage().data();
      if (!found && memory != nullptr && memory == host.storage().data()) {
        found = at::native::as_strided_tensorimpl(tensor, host.sizes(), host.strides(), host.storage_offset());
      }
    });
  }
  return found;
}

// An argument that the kernel made larger.
void take_over_size(const at::Tensor& device, const at::Tensor& host) {
  if (device.sizes() == host.sizes()) {
    return;
  }
  at::native::resize_(device, host.sizes());
  OpenMemory open;
  open.host_view(device).copy_(host);
}

void run_on_processor(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& schema = op.schema();
  const auto name = schema.name().substr(schema.name().find(':') + 2);
  const auto begin = stack->size() - schema.arguments().size();
  const std::vector<IValue> arguments(stack->begin() + static_cast<std::ptrdiff_t>(begin), stack->end());
  check_devices(name, arguments);
  OpenMemory open;
  std::vector<IValue> hosts;
  for (auto i = begin; i < stack->size(); ++i) {
    auto& value = (*stack)[i];
    value = value.isDevice() ? IValue(at::Device(at::kCPU)) : with_tensors(value, [&](const at::Tensor& tensor) {
      return is_on_device(tensor) ? open.host_view(tensor) : tensor;
    });
    hosts.push_back(value);
  }
  {
    const at::AutoDispatchBelowADInplaceOrView guard;
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].isTensor() && is_on_device(arguments[i].toTensor())) {
      take_over_size(arguments[i].toTensor(), hosts[i].toTensor());
    }
  }
  std::int64_t numbers = 0;
  std::int64_t bytes = 0;
  const auto first = stack->size() - schema.returns().size();
  for (std::size_t i = 0; i < schema.returns().size(); ++i) {
    auto& value = (*stack)[first + i];
    if (const auto* same = written(schema, i, arguments)) {
      numbers += same->numel();
      bytes += static_cast<std::int64_t>(same->nbytes());
      value = *same;
      continue;
    }
    value = with_tensors(value, [&](const at::Tensor& host) {
      if (const auto view = view_of_argument(host, arguments)) {
        return *view;
      }
      numbers += host.numel();
      bytes += static_cast<std::int64_t>(host.nbytes());
      return on_fake_device(host);
    });
  }
  fake_stream().launch(full_name(schema), numbers == 0 ? 0 : kernels_of(name, arguments));
  fake_stream().gather(gathers(name) ? bytes : 0);
  if (asks_for_size(name)) {
    fake_stream().synchronise();
  }
}

at::Tensor empty(c10::IntArrayRef size, std::optional<at::ScalarType> type, std::optional<at::Layout>,
                 std::optional<at::Device>, std::optional<bool> pinned, std::optional<at::MemoryFormat> format) {
  TORCH_CHECK(!pinned.value_or(false), "only memory of the CPU can be pinned");
  return at::detail::empty_generic(size, &device_allocator(), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                   at::dtype_or_default(type), format);
}

at::Tensor empty_strided(c10::IntArrayRef size, c10::IntArrayRef strides, std::optional<at::ScalarType> type,
                         std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool> pinned) {
  TORCH_CHECK(!pinned.value_or(false), "only memory of the CPU can be pinned");
  return at::detail::empty_strided_generic(size, strides, &device_allocator(),
                                           c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                           at::dtype_or_default(type));
}

bool is_dense(const at::Tensor& tensor) { return tensor.is_non_overlapping_and_dense(); }

// As CUDA copies: the memory moves as it is, the host converts what goes up and the device what comes down; a tensor
// with holes is made dense on the device.
void upload(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  const bool as_it_is = from.scalar_type() == to.scalar_type() && is_dense(from) && from.strides() == to.strides();
  const bool waits = !non_blocking || !as_it_is || !is_pinned(from.const_data_ptr());
  OpenMemory open;
  open.host_view(to).copy_(from.expand_as(to));
  fake_stream().upload(from.const_data_ptr(), as_it_is ? from.nbytes() : 0, waits);
  fake_stream().launch("aten::copy_", is_dense(to) ? 0 : 1);
}

void download(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  const bool as_it_is = from.scalar_type() == to.scalar_type() && is_dense(from) && from.strides() == to.strides();
  fake_stream().launch("aten::copy_", as_it_is ? 0 : 1);
  OpenMemory open;
  auto numbers = at::empty_like(to, to.options().pinned_memory(false));
  numbers.copy_(open.host_view(from).expand_as(to));
  if (!is_dense(to)) {
    to.copy_(numbers);
    fake_stream().download(nullptr, nullptr, 0, true);
    return;
  }
  const bool waits = !non_blocking || !is_pinned(to.const_data_ptr());
  fake_stream().download(to.mutable_data_ptr(), numbers.const_data_ptr(), to.nbytes(), waits);
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  if (to.numel() == 0) {
    return to;
  }
  if (!is_on_device(from)) {
    upload(from, to, non_blocking);
  } else if (!is_on_device(to)) {
    download(from, to, non_blocking);
  } else {
    fake_stream().launch("aten::copy_");
    OpenMemory open;
    open.host_view(to).copy_(open.host_view(from));
  }
  return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  at::native::resize_(to, from.sizes());
  return copy_from(from, to, false);
}

at::Scalar one_number(const at::Tensor& tensor) {
  OpenMemory open;
  const auto number = open.host_view(tensor).item();
  char nothing = 0;
  fake_stream().download(&nothing, &nothing, 1, true);
  return number;
}

at::Tensor mm_with_dtype(const at::Tensor& left, const at::Tensor& right, at::ScalarType type) {
  TORCH_CHECK(is_on_device(left) && is_on_device(right), "Expected all tensors to be on the same device");
  TORCH_CHECK(left.scalar_type() == right.scalar_type(), "operands of one dtype");
  TORCH_CHECK(type == left.scalar_type() || (type == at::kFloat && left.element_size() == 2),
              "the result is float32 of 16-bit operands, or has their dtype");
  OpenMemory open;
  const auto product = at::mm(open.host_view(left).to(at::kFloat), open.host_view(right).to(at::kFloat));
  fake_stream().launch("aten::mm.dtype", product.numel() > 0 ? 1 : 0);
  return on_fake_device(product.to(type));
}

// CUDA's is GELU's tanh form, before the product is rounded; the CPU's is not.
at::Tensor& addmm_activation(const at::Tensor& added, const at::Tensor& left, const at::Tensor& right,
                             const at::Scalar& beta, const at::Scalar& alpha, bool gelu, at::Tensor& out) {
  for (const auto* tensor : {&added, &left, &right}) {
    TORCH_CHECK(is_on_device(*tensor), "Expected all tensors to be on the same device");
  }
  OpenMemory open;
  const auto wide = [&](const at::Tensor& tensor) { return open.host_view(tensor).to(at::kFloat); };
  const auto product = at::addmm(wide(added), wide(left), wide(right), beta, alpha);
  open.host_view(out).copy_(gelu ? at::gelu(product, "tanh") : at::relu(product));
  fake_stream().launch("aten::_addmm_activation.out", out.numel() > 0 ? 1 : 0);
  return out;
}

at::Tensor view(const at::Tensor& self, c10::IntArrayRef size) { return at::native::view(self, size); }
at::Tensor as_strided(const at::Tensor& self, c10::IntArrayRef size, c10::IntArrayRef strides,
                      std::optional<std::int64_t> offset) {
  return at::native::as_strided_tensorimpl(self, size, strides, offset);
}
at::Tensor reshape_alias(const at::Tensor& self, c10::IntArrayRef size, c10::IntArrayRef strides) {
  return at::native::_reshape_alias(self, size, strides);
}
const at::Tensor& resize(const at::Tensor& self, c10::IntArrayRef size, std::optional<at::MemoryFormat> format) {
  return at::native::resize_(self, size, format);
}
at::Tensor& set_storage(at::Tensor& self, at::Storage source, std::int64_t offset, c10::IntArrayRef size,
                        c10::IntArrayRef strides) {
  return at::native::set_storage_cpu_(self, std::move(source), offset, size, strides);
}

}  // namespace

void register_fake_kernels() {
  constexpr auto key = c10::DispatchKey::PrivateUse1;
  static torch::Library fallback(torch::Library::IMPL, "_", key, __FILE__, __LINE__);
  fallback.fallback(torch::CppFunction::makeFromBoxedFunction<&run_on_processor>());
  static torch::Library library(torch::Library::IMPL, "aten", key, __FILE__, __LINE__);
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
  library.impl("as_strided", &as_strided);
  library.impl("view", &view);
  library.impl("_reshape_alias", &reshape_alias);
  library.impl("unfold", &at::native::unfold);
  library.impl("resize_", &resize);
  library.impl("set_.source_Tensor", &at::native::set_tensor_);
  library.impl("set_.source_Storage", static_cast<at::Tensor& (*)(at::Tensor&, at::Storage)>(&at::native::set_));
  library.impl("set_.source_Storage_storage_offset", &set_storage);
  library.impl("_copy_from", &copy_from);
  library.impl("_copy_from_and_resize", &copy_from_and_resize);
  library.impl("_local_scalar_dense", &one_number);
  library.impl("mm.dtype", &mm_with_dtype);
  library.impl("_addmm_activation.out", &addmm_activation);
  // One kernel on CUDA, several operators elsewhere.
  for (const auto* name : {"native_layer_norm", "_fused_rms_norm", "_grouped_mm"}) {
    library.impl(name, torch::CppFunction::makeFromBoxedFunction<&run_on_processor>());
  }
  register_attention(library);
}

}  // namespace stereosweep::testing
