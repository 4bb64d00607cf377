// Folders whose matrices are stored in 8 or fewer bits with scales: what `quantization_config` of config.json says, and
// the numbers that the stored codes stand for, (code - zero) * scale. Activations are not rounded, whatever the folder
// says of them.
//   fp8, fbgemm_fp8       weight (F8) with weight_scale_inv or weight_scale: of all, of each row, of blocks
//   mxfp4                 NAME_blocks, NAME_scales: blocks of 32 numbers of four bits, a power of two each
//   gptq                  qweight, qzeros, scales, g_idx: codes packed along the inputs
//   awq                   qweight, qzeros, scales: eight codes of four bits in the order 0 2 4 6 1 3 5 7
//   compressed-tensors    weight (I8, F8) or weight_packed, weight_scale, weight_zero_point, weight_g_idx
// (source: github.com/huggingface/transformers, integrations/finegrained_fp8.py, integrations/mxfp4.py; frantar2022 and
// github.com/AutoGPTQ; lin2023 and github.com/casper-hansen/AutoAWQ; github.com/vllm-project/compressed-tensors)
#pragma once

#include <string>

#include "base/text/JsonValue.hpp"
#include "model/checkpoint/Safetensors.hpp"

namespace stereosweep::model {

/// "GGUF (210 Q4_1, 61 F32)", "gptq, 4 bits"; "" for plain numbers. Throws InputError, naming the key, for methods that
/// are not read.
std::string describe_quantization(const base::JsonValue& fields);
/// The same for a checkpoint; "" for one without config.json.
std::string describe_storage(const base::FileSet& files);

/// Puts in place of codes, scales and zeros the matrix that they stand for. One such matrix at a time is held in memory
/// while it is read. Throws InputError for parts that are missing or do not fit each other.
void decode_quantized(const base::FileSet& files, StoredTensors& tensors);

}  // namespace stereosweep::model
