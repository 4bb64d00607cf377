// The tensors of a GGUF file under the names, and with the rows, that the folder had from which it was made.
#pragma once

#include "base/files/gguf/Gguf.hpp"
#include "model/checkpoint/Safetensors.hpp"

namespace stereosweep::model {

/// Blocks become numbers while they are read. Rows of queries and keys that were put in another order go back; Gemma's
/// norms lose the 1 that was added. Throws InputError for tensors without a name in `transformers`.
StoredTensors read_gguf_tensors(const base::SharedBytes& content, const std::string& name);

}  // namespace stereosweep::model
