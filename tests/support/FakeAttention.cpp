// Attention as CUDA's operators do it: plainly, in float32, with their rules as preconditions.
#include <ATen/SDPBackend.h>
#include <ATen/TensorIndexing.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "support/FakeDeviceState.hpp"
#include "support/FakeKernels.hpp"

namespace stereosweep::testing {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

enum class Alignment { none, first, last };  // at which query and key the diagonal begins

struct Rule {
  double scale = 0;
  Alignment alignment = Alignment::none;
  std::int64_t window = -1;  // keys before the diagonal that are seen; -1: all
  std::int64_t ahead = -1;   // keys behind the diagonal, where it hides none by itself; -1: all
};

struct Mixed {
  at::Tensor values;  // [heads, queries, width] float32
  at::Tensor sums;    // [heads, queries] log of the sum of exponentials; infinite where a query sees no key
};

// query [heads, queries, width], key and value [key heads, keys, width] on the CPU, float32; bias added if defined.
Mixed mix(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const Rule& rule,
          const at::Tensor& bias = {}) {
  const auto group = query.size(0) / key.size(0);
  const auto shared = [&](const at::Tensor& rows) {
    return rows.unsqueeze(1).expand({-1, group, -1, -1}).reshape({query.size(0), rows.size(1), rows.size(2)});
  };
  auto scores = at::matmul(query, shared(key).transpose(1, 2)).mul_(rule.scale);
  if (bias.defined()) {
    scores = scores.add(bias);
  }
  const auto shift = rule.alignment == Alignment::last ? key.size(1) - query.size(1) : 0;
  const auto distance = at::arange(query.size(1)).add(shift).unsqueeze(1).sub(at::arange(key.size(1)).unsqueeze(0));
  if (rule.alignment != Alignment::none && rule.ahead < 0) {
    scores = scores.masked_fill(distance.lt(0), -infinity);
  }
  if (rule.window >= 0) {
    scores = scores.masked_fill(distance.gt(rule.window), -infinity);
  }
  if (rule.ahead >= 0) {
    scores = scores.masked_fill(distance.lt(-rule.ahead), -infinity);
  }
  const auto sums = at::logsumexp(scores, -1);
  const auto seen = sums.gt(-infinity);
  const auto weights = scores.sub(sums.masked_fill(seen.logical_not(), 0).unsqueeze(-1)).exp();
  return {at::matmul(weights, shared(value)), sums.masked_fill(seen.logical_not(), infinity)};
}

// [rows, heads, width] of a range of rows -> [heads, rows, width] float32
at::Tensor by_head(const at::Tensor& rows, std::int64_t begin, std::int64_t end) {
  return rows.slice(0, begin, end).transpose(0, 1).to(at::kFloat);
}

void check_begins(const at::Tensor& begins, const char* name) {
  TORCH_CHECK(is_on_device(begins), name, " must be on the device");
  TORCH_CHECK(begins.scalar_type() == at::kInt && begins.is_contiguous() && begins.dim() == 1, name,
              " must be contiguous int32");
}

std::vector<std::int64_t> numbers_of(const at::Tensor& begins, OpenMemory& open) {
  const auto host = open.host_view(begins).to(at::kLong);
  return {host.const_data_ptr<std::int64_t>(), host.const_data_ptr<std::int64_t>() + host.numel()};
}

struct Packed {
  at::Tensor query, key, value;  // host views [rows, heads, width]
  std::vector<std::int64_t> query_begin, key_begin, key_end;
};

// Where the keys of each segment end: where the next one's begin, or after as many as are used: then segments may lie
// anywhere and share keys.
std::vector<std::int64_t> ends_of(const std::vector<std::int64_t>& begins, const std::optional<at::Tensor>& used,
                                  OpenMemory& open) {
  if (!used) {
    return {begins.begin() + 1, begins.end()};
  }
  check_begins(*used, "the numbers of used keys");
  auto ends = numbers_of(*used, open);
  TORCH_CHECK(ends.size() + 1 == begins.size(), "as many numbers of used keys as segments");
  for (std::size_t i = 0; i < ends.size(); ++i) {
    ends[i] += begins[i];
  }
  return ends;
}

void check_rows(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  for (const auto* rows : {&query, &key, &value}) {
    TORCH_CHECK(is_on_device(*rows), "attention needs its rows on the device");
    TORCH_CHECK(rows->scalar_type() == query.scalar_type(), "rows of one dtype");
    TORCH_CHECK(rows->stride(-1) == 1, "the last dimension must be contiguous");
  }
}

void check_segments(const Packed& packed, std::int64_t longest_query, std::int64_t longest_key) {
  TORCH_CHECK(packed.query_begin.size() == packed.key_begin.size(), "as many segments of keys as of queries");
  TORCH_CHECK(packed.query_begin.back() <= packed.query.size(0), "a segment reaches beyond the rows");
  for (std::size_t i = 0; i + 1 < packed.query_begin.size(); ++i) {
    const auto queries = packed.query_begin[i + 1] - packed.query_begin[i];
    const auto keys = packed.key_end[i] - packed.key_begin[i];
    TORCH_CHECK(packed.key_begin[i] >= 0 && packed.key_end[i] <= packed.key.size(0),
                "a segment reaches beyond the keys");
    TORCH_CHECK(queries >= 0 && queries <= longest_query, "a segment has ", queries, " queries, the longest ",
                longest_query);
    TORCH_CHECK(keys >= 0 && keys <= longest_key, "a segment has ", keys, " keys, the longest ", longest_key);
  }
}

// Writes each segment's answer into out [rows, heads, width]; visit(segment, log sums [heads, queries]); what
// bias_of(segment, queries, keys) is added to the scores.
template <class BiasOf, class Visit>
void mix_segments(const Packed& packed, const Rule& rule, const at::Tensor& out, const BiasOf& bias_of,
                  const Visit& visit) {
  for (std::size_t i = 0; i + 1 < packed.query_begin.size(); ++i) {
    const auto first = packed.query_begin[i];
    const auto last = packed.query_begin[i + 1];
    const auto first_key = packed.key_begin[i];
    const auto last_key = packed.key_end[i];
    if (first == last) {
      continue;
    }
    const auto mixed = mix(by_head(packed.query, first, last), by_head(packed.key, first_key, last_key),
                           by_head(packed.value, first_key, last_key), rule,
                           bias_of(static_cast<std::int64_t>(i), last - first, last_key - first_key));
    out.slice(0, first, last).copy_(mixed.values.transpose(0, 1));
    visit(i, mixed.sums);
  }
}

at::Tensor no_bias(std::int64_t, std::int64_t, std::int64_t) { return {}; }

using FlashResult = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

FlashResult flash(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                  const std::optional<at::Tensor>& query_begin, const std::optional<at::Tensor>& key_begin,
                  std::int64_t longest_query, std::int64_t longest_key, double dropout, bool causal, bool debug,
                  std::optional<double> scale, std::optional<std::int64_t> left, std::optional<std::int64_t> right,
                  const std::optional<at::Tensor>& used, const std::optional<at::Tensor>& slopes) {
  check_rows(query, key, value);
  TORCH_CHECK(query.scalar_type() == at::kHalf || query.scalar_type() == at::kBFloat16,
              "FlashAttention only supports fp16 and bf16 data type");
  TORCH_CHECK(query_begin && key_begin && query.dim() == 3, "only packed rows are known here");
  TORCH_CHECK(query.size(2) % 8 == 0 && query.size(2) <= 256, "head widths are multiples of 8 up to 256");
  TORCH_CHECK(query.size(1) % key.size(1) == 0, "key heads must divide the heads");
  TORCH_CHECK(!slopes && dropout == 0 && !debug, "not compiled in, or not known here");
  check_begins(*query_begin, "cum_seq_q");
  check_begins(*key_begin, "cum_seq_k");
  OpenMemory open;
  const auto begins = numbers_of(*key_begin, open);
  const Packed packed{
      open.host_view(query),      open.host_view(key), open.host_view(value), numbers_of(*query_begin, open), begins,
      ends_of(begins, used, open)};
  check_segments(packed, longest_query, longest_key);
  const auto segments = static_cast<std::int64_t>(packed.query_begin.size()) - 1;
  const auto window = left.value_or(-1);
  const auto ahead = causal ? -1 : right.value_or(-1);
  const bool swaps = longest_query == 1 && query.size(1) > key.size(1) && window < 0 && ahead < 0;
  TORCH_CHECK(!swaps || query.size(0) == segments, "with one query at most and grouped heads every segment has one");
  const Rule rule{scale.value_or(1 / std::sqrt(static_cast<double>(query.size(2)))),
                  causal || window >= 0 ? Alignment::last : Alignment::none, window, ahead};
  TORCH_CHECK(causal || (window < 0) == (ahead < 0), "a window to one side alone is not known here");
  auto out = at::zeros(query.sizes(), at::TensorOptions(at::kFloat));
  auto sums = at::full({query.size(1), query.size(0)}, infinity, at::TensorOptions(at::kFloat));
  mix_segments(packed, rule, out, no_bias, [&](std::size_t i, const at::Tensor& part) {
    sums.slice(1, packed.query_begin[i], packed.query_begin[i + 1]).copy_(part);
  });
  // With one query at most and grouped heads it copies the queries and turns the answers and the queries back.
  fake_stream().launch("aten::_flash_attention_forward", out.numel() == 0 ? 0 : swaps ? 4 : 1);
  const auto nothing = at::empty({0}, query.options().dtype(at::kLong));
  return {on_fake_device(out.to(query.scalar_type())), on_fake_device(sums), nothing, nothing, nothing};
}

Rule efficient_rule(std::int64_t mask, std::int64_t width, std::optional<double> scale) {
  TORCH_CHECK(mask >= 0 && mask <= 2, "custom_mask_type ", mask);
  return {scale.value_or(1 / std::sqrt(static_cast<double>(width))), mask == 0   ? Alignment::none
                                                                     : mask == 1 ? Alignment::first
                                                                                 : Alignment::last};
}

// The kernel reads eight numbers of 16 bits, or four of 32, at once.
void check_bias(const std::optional<at::Tensor>& bias, const at::Tensor& query, const at::Tensor& key) {
  if (!bias) {
    return;
  }
  const std::vector<std::int64_t> sizes{query.size(0), query.size(2), query.size(1), key.size(1)};
  TORCH_CHECK(is_on_device(*bias), "the bias must be on the device");
  TORCH_CHECK(bias->scalar_type() == query.scalar_type(), "invalid dtype for bias - should match query's dtype");
  TORCH_CHECK(bias->sizes() == sizes, "attn_bias: wrong shape");
  TORCH_CHECK(bias->stride(3) == 1, "attn_bias: wrong alignment (last dimension must be contiguous)");
  const auto unit = 16 / static_cast<std::int64_t>(bias->element_size());
  for (const std::int64_t dimension : {0, 1, 2}) {
    TORCH_CHECK(bias->stride(dimension) % unit == 0, "attn_bias is not correctly aligned");
  }
}

// Each segment's begins its number times the first stride behind the first one's.
at::Tensor bias_of_segment(const at::Tensor& all, std::int64_t segment, std::int64_t queries, std::int64_t keys) {
  return all
      .as_strided({all.size(1), queries, keys}, {all.stride(1), all.stride(2), 1},
                  all.storage_offset() + segment * all.stride(0))
      .to(at::kFloat);
}

using EfficientResult = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, c10::SymInt, c10::SymInt>;

EfficientResult efficient(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                          const std::optional<at::Tensor>& bias, const std::optional<at::Tensor>& query_begin,
                          const std::optional<at::Tensor>& key_begin, std::optional<std::int64_t> longest_query,
                          std::optional<std::int64_t> longest_key, double dropout, std::int64_t mask, bool wants_sums,
                          std::optional<double> scale, const std::optional<at::Tensor>& used,
                          std::optional<std::int64_t> window) {
  check_rows(query, key, value);
  TORCH_CHECK(query.dim() == 4 && query.size(0) == 1 && query_begin && key_begin && longest_query,
              "only packed rows [1, rows, heads, width] are known here");
  TORCH_CHECK(query.size(2) == key.size(2), "as many heads of keys as of queries");
  TORCH_CHECK(!window && dropout == 0, "not known here");
  check_bias(bias, query, key);
  check_begins(*query_begin, "cu_seqlens_q");
  check_begins(*key_begin, "cu_seqlens_k");
  OpenMemory open;
  const auto rows = [&](const at::Tensor& tensor) { return open.host_view(tensor).squeeze(0); };
  const auto begins = numbers_of(*key_begin, open);
  const Packed packed{
      rows(query), rows(key), rows(value), numbers_of(*query_begin, open), begins, ends_of(begins, used, open)};
  check_segments(packed, *longest_query, longest_key.value_or(key.size(1)));
  const auto segments = static_cast<std::int64_t>(packed.query_begin.size()) - 1;
  constexpr std::int64_t unit = 32;
  const auto columns = wants_sums ? (*longest_query + unit - 1) / unit * unit : 0;
  auto out = at::zeros(packed.query.sizes(), at::TensorOptions(at::kFloat));
  auto sums = at::full({segments, query.size(2), columns}, infinity, at::TensorOptions(at::kFloat));
  const auto biases = bias ? open.host_view(*bias) : at::Tensor();
  const auto bias_of = [&](std::int64_t segment, std::int64_t queries, std::int64_t keys) {
    return bias ? bias_of_segment(biases, segment, queries, keys) : at::Tensor();
  };
  const auto keep_sums = [&](std::size_t i, const at::Tensor& part) {
    if (wants_sums) {
      sums[static_cast<std::int64_t>(i)].slice(1, 0, part.size(1)).copy_(part);
    }
  };
  mix_segments(packed, efficient_rule(mask, query.size(3), scale), out, bias_of, keep_sums);
  fake_stream().launch("aten::_efficient_attention_forward", out.numel() > 0 ? 1 : 0);
  const auto seed = at::empty({}, at::TensorOptions(at::kLong).device(query.device()));
  return {on_fake_device(out.to(query.scalar_type()).unsqueeze(0)),
          on_fake_device(sums),
          seed,
          seed,
          *longest_query,
          longest_key.value_or(key.size(1))};
}

using ScaledResult = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

// [batch, heads, rows, width]; what comes out lies as [batch, rows, heads, width].
ScaledResult scaled_efficient(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                              const std::optional<at::Tensor>& bias, bool wants_sums, double dropout, bool causal,
                              std::optional<double> scale) {
  check_rows(query, key, value);
  TORCH_CHECK(dropout == 0 && !wants_sums && query.size(1) == key.size(1), "not known here");
  TORCH_CHECK(!bias || (is_on_device(*bias) && bias->scalar_type() == query.scalar_type()),
              "the bias must be on the device and have the rows' dtype");
  OpenMemory open;
  const auto rows = [&](const at::Tensor& tensor) { return open.host_view(tensor).to(at::kFloat); };
  const auto queries = rows(query);
  const auto keys = rows(key);
  const auto values = rows(value);
  const auto biases =
      bias ? rows(*bias).expand({query.size(0), query.size(1), query.size(2), key.size(2)}) : at::Tensor();
  auto out = at::empty({query.size(0), query.size(2), query.size(1), value.size(3)}, at::TensorOptions(at::kFloat));
  for (std::int64_t i = 0; i < query.size(0); ++i) {
    const auto mixed = mix(queries[i], keys[i], values[i], efficient_rule(causal ? 1 : 0, query.size(3), scale),
                           biases.defined() ? biases[i] : at::Tensor());
    out[i].copy_(mixed.values.transpose(0, 1));
  }
  fake_stream().launch("aten::_scaled_dot_product_efficient_attention", out.numel() > 0 ? 1 : 0);
  const auto seed = at::empty({}, at::TensorOptions(at::kLong).device(query.device()));
  const auto no_sums = at::empty({query.size(0), query.size(1), 0}, query.options().dtype(at::kFloat));
  return {on_fake_device(out.to(query.scalar_type())).transpose(1, 2), no_sums, seed, seed};
}

}  // namespace

void register_attention(torch::Library& library) {
  library.impl("_flash_attention_forward", &flash);
  library.impl("_efficient_attention_forward", &efficient);
  library.impl("_scaled_dot_product_efficient_attention", &scaled_efficient);
}

std::int64_t choose_attention(const at::Tensor&, const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&,
                              double, bool, std::optional<double>, bool) {
  return static_cast<std::int64_t>(at::SDPBackend::efficient_attention);
}

}  // namespace stereosweep::testing

namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(_fused_sdp_choice_stub, &stereosweep::testing::choose_attention)
}
