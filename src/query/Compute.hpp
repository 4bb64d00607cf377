// What computes the answers: the type of the model's numbers, the device, the kind of engine. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace stereosweep::query {

/// Arithmetic of the model's body; log-softmax is float32 or better always. float16 ends at 65504: what a layer puts
/// out beyond becomes infinite, and the logits or vectors that follow from it are not finite.
enum class Dtype { float32, bfloat16, float16 };
/// As jobs and results spell them, in the order of Dtype.
inline const std::vector<std::string> dtype_names = {"float32", "bfloat16", "float16"};
inline const std::string& name_of(Dtype dtype) { return dtype_names[static_cast<std::size_t>(dtype)]; }
/// Of one number, in bytes.
constexpr std::uint64_t size_of(Dtype dtype) { return dtype == Dtype::float32 ? 4 : 2; }

enum class Device { automatic, cpu, cuda };  ///< automatic: cuda where torch sees one

/// `fake` answers from a hash of each query: tests of everything but the model, at any size.
enum class EngineKind { torch, fake };

}  // namespace stereosweep::query
