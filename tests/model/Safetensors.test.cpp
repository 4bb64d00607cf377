// The safetensors reader: right files are read, every rule that a file breaks is named, mutations never crash.
#include "model/checkpoint/Safetensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/Error.hpp"
#include "model/SafetensorsText.hpp"

namespace stereosweep::model {
namespace {

using testing::entry_of;
using testing::file_of;
using testing::floats;
using ::testing::HasSubstr;

StoredTensors parse(const std::string& file) {
  return parse_safetensors(base::to_shared(file), "dir/model.safetensors");
}

std::string refused_file(const std::string& file) {
  try {
    parse(file);
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "accepted";
}

const std::string eight(8, 'x');

std::string right_file() {
  return file_of("{\"__metadata__\":{\"format\":\"pt\"}," + entry_of("a", "F32", "[2,1]", 0, 8) + "," +
                     entry_of("b", "BF16", "[3]", 8, 14) + "," + entry_of("c", "I64", "[]", 14, 22) + "," +
                     entry_of("none", "F32", "[0,4]", 22, 22) + "}   ",
                 std::string(22, '\1'));
}

TEST(Safetensors, ReadsWhatTheFormatAllows) {
  const auto file = base::to_shared(right_file());
  const auto tensors = parse_safetensors(file, "x");
  ASSERT_EQ(tensors.size(), 4U);
  EXPECT_EQ(tensors.at("a").shape, (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(tensors.at("a").type, at::kFloat);
  EXPECT_EQ(tensors.at("b").offset, file.size() - 14);
  EXPECT_EQ(tensors.at("c").num_bytes, 8U);
  EXPECT_EQ(tensors.at("none").num_bytes, 0U);
  EXPECT_TRUE(parse(file_of("{}", "")).empty());
}

TEST(Safetensors, NamesEveryBrokenRule) {
  struct Case {
    std::string file;
    std::string says;
  };
  const auto one = [](const std::string& entry) { return file_of("{" + entry + "}", eight); };
  const std::string top = "18446744073709551615";
  const std::vector<Case> cases = {
      {"", "0 bytes are no safetensors file"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0a\nsize 9\n", "a Git LFS pointer stands in place"},
      {"1234567", "7 bytes"},
      {file_of("{}", "").substr(0, 9), "cut short"},
      {std::string(8, '\xff') + "{}", "announced"},
      {file_of("[]", ""), "does not begin with '{'"},
      {file_of(" {}", ""), "does not begin with '{'"},
      {file_of("{", ""), "no valid JSON"},
      {file_of("{} x", ""), "no valid JSON"},
      {file_of("{\"a\":1}", ""), ":a: 1 (an object is needed"},
      {file_of("{\"__metadata__\":{\"a\":1}}", ""), ":__metadata__.a: 1 (a text is needed"},
      {file_of("{\"__metadata__\":[]}", ""), ":__metadata__: is a list (an object is needed"},
      {one("\"a\":{\"dtype\":\"F32\",\"shape\":[2]}"), ":a.data_offsets: is missing"},
      {one("\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"more\":1}"), "unknown field \"more\""},
      {one(entry_of("a", "F32", "[2]", 0, 8) + "," + entry_of("a", "F32", "[2]", 0, 8)), "appears twice"},
      {one("\"a\":{\"dtype\":\"F32\",\"dtype\":\"I64\",\"shape\":[2],\"data_offsets\":[0,8]}"), "appears twice"},
      {one(entry_of("a", "F4", "[16]", 0, 8)), ":a.dtype: \"F4\" is not supported"},
      {one(entry_of("a", "f32", "[2]", 0, 8)), "not supported"},
      {one(entry_of("a", "F32", "2", 0, 8)), ":a.shape: 2 (a list is needed"},
      {one(entry_of("a", "F32", "[1,1,1,1,1,1,1,1,2]", 0, 8)), ":a.shape: 9 sizes"},
      {one(entry_of("a", "F32", "[2.0]", 0, 8)), ":a.shape[0]: 2.0 (a whole number from 0 on is needed"},
      {one(entry_of("a", "F32", "[-2]", 0, 8)), ":a.shape[0]: -2 (a whole number from 0 on"},
      {one(entry_of("a", "F32", "[\"2\"]", 0, 8)), "a whole number from 0 on is needed"},
      {one(entry_of("a", "F32", "[" + top + "0]", 0, 8)), "a whole number from 0 on is needed"},
      {one(entry_of("a", "F32", "[" + top + "]", 0, 8)), "a whole number from 0 on is needed"},
      {one(entry_of("a", "F32", "[4294967296,4294967296]", 0, 8)), "overflows"},
      {one(entry_of("a", "F32", "[9223372036854775807,2,0]", 0, 8)), "overflows"},
      {one(entry_of("a", "F32", "[3]", 0, 8)), "ask for 12"},
      {one(entry_of("a", "F32", "[3]", 0, 12)), "cut short"},
      {one(entry_of("a", "F32", "[2]", 8, 0)), "data_offsets 8 to 0"},
      {one(entry_of("a", "F32", "[1]", 4, 8)), "nor leave holes"},
      {one(entry_of("a", "F32", "[1]", 0, 4)), "4 bytes after the last tensor"},
      {one(entry_of("a", "F32", "[2]", 0, 8) + "," + entry_of("b", "F32", "[1]", 4, 8)), "overlap"},
      {one(entry_of("a", "U8", "[0]", 4, 4) + "," + entry_of("b", "F32", "[2]", 0, 8)), "overlap"},
      {one("\"a\":{\"dtype\":\"F32\",\"shape\":[[[[[2]]]]],\"data_offsets\":[0,8]}"), "deeper"},
      {one("\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8,8]}"), ":a.data_offsets: 3 numbers"},
  };
  for (const auto& [file, says] : cases) {
    EXPECT_THAT(refused_file(file), HasSubstr(says));
    EXPECT_THAT(refused_file(file), HasSubstr("dir/model.safetensors"));
  }
}

TEST(Safetensors, EveryTruncationIsRefused) {
  const auto file = right_file();
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_NE(refused_file(file.substr(0, size)), "accepted") << size;
  }
  EXPECT_THAT(refused_file(file + "x"), HasSubstr("after the last tensor"));
}

// What a fuzzer would check: our error or a consistent answer, nothing else.
void check_one(const std::string& file) {
  try {
    std::size_t sum = 0;
    const auto content = base::to_shared(file);
    for (const auto& [name, tensor] : parse_safetensors(content, "fuzz")) {
      std::size_t numbers = 1;
      for (const auto size : tensor.shape) {
        numbers *= static_cast<std::size_t>(size);
      }
      ASSERT_EQ(tensor.num_bytes, numbers * c10::elementSize(tensor.type));
      ASSERT_LE(tensor.offset, content.size());
      ASSERT_LE(tensor.num_bytes, content.size() - tensor.offset);
      sum += tensor.num_bytes;
    }
    ASSERT_LE(sum, file.size());
  } catch (const base::InputError&) {
  }
}

TEST(Safetensors, MutationsEndInAnErrorOrAConsistentAnswer) {
  std::mt19937_64 random(20220710);
  const std::vector<std::string> pieces = {"18446744073709551615", "-1",      "1e9", "{\"", "[",   "]",    "}",   ",",
                                           "\"dtype\":\"F64\"",    "\\u0000", "4",   "0",   "F16", "null", "\xff"};
  const auto seed = right_file();
  for (int round = 0; round < 40'000; ++round) {
    auto file = seed;
    for (auto changes = 1 + random() % 3; changes > 0; --changes) {
      const auto at = random() % file.size();
      switch (random() % 4) {
        case 0:
          file[at] = static_cast<char>(random());
          break;
        case 1:
          file.erase(at, 1 + random() % 4);
          break;
        case 2:
          file.insert(at, pieces[random() % pieces.size()]);
          break;
        default:
          file[at] = file[random() % file.size()];
      }
      if (random() % 2 == 0 && file.size() > 30) {  // keep the length honest, so that mutations get past it
        const std::uint64_t length = file.size() - 30;
        std::memcpy(file.data(), &length, sizeof(length));
      }
    }
    check_one(file);
    if (::testing::Test::HasFatalFailure()) {
      FAIL() << "round " << round;
    }
  }
}

TEST(Shards, AreReadThroughTheIndex) {
  base::FileSet files("dir");
  files.add("one.safetensors", base::to_shared(file_of("{" + entry_of("a", "F32", "[2]", 0, 8) + "}", eight)));
  files.add("two.safetensors", base::to_shared(file_of("{" + entry_of("b", "F32", "[2]", 0, 8) + "}", eight)));
  const auto refusal_of = [&](const std::string& map) -> std::string {
    auto with_index = files;
    with_index.add("model.safetensors.index.json", base::to_shared("{\"weight_map\":" + map + "}"));
    try {
      std::string text;
      for (const auto& [name, tensor] : read_stored_tensors(with_index)) {
        text += name + (tensor.absent ? " is absent from " + tensor.file + "; " : "; ");
      }
      return text;
    } catch (const base::InputError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal_of(R"({"a":"one.safetensors","b":"two.safetensors"})"), "a; b; ");
  EXPECT_EQ(refusal_of(R"({"a":"one.safetensors","b":"two.safetensors","c":"two.safetensors"})"),
            "a; b; c is absent from dir/two.safetensors; ");
  EXPECT_THAT(refusal_of(R"({"a":"one.safetensors","b":"three.safetensors"})"),
              HasSubstr("dir/model.safetensors.index.json: it names 1 shard that is not in the directory: "
                        "three.safetensors (1 of 2 are there)"));
  EXPECT_THAT(refusal_of(R"({"a":"three.safetensors","b":"two.safetensors","c":"one.safetensors"})"),
              HasSubstr("not in the directory: three.safetensors"));
  EXPECT_THAT(refusal_of(R"({"a":"two.safetensors","b":"two.safetensors"})"),
              HasSubstr("a is absent from dir/two.safetensors"));
  EXPECT_THAT(refusal_of(R"({"a":"one.safetensors","c":"two.safetensors"})"), HasSubstr("\"b\" is not listed"));
  for (const auto* name : {"../one.safetensors", "/one.safetensors", "sub/one.safetensors", "one.bin", ".safetensors",
                           "", "..", "one\\u0000.safetensors"}) {
    EXPECT_THAT(refusal_of(std::string("{\"a\":\"") + name + "\"}"), HasSubstr("plain file name")) << name;
  }
  EXPECT_THAT(refusal_of("{}"), HasSubstr("weight_map is empty"));
  EXPECT_THAT(refusal_of("[]"), HasSubstr("weight_map: is a list (an object is needed"));
  EXPECT_THAT(refusal_of(R"({"a":1})"), HasSubstr("weight_map.a: 1 (a text is needed"));

  files.add("two.safetensors", base::to_shared(file_of("{" + entry_of("a", "F32", "[2]", 0, 8) + "}", eight)));
  EXPECT_THAT(refusal_of(R"({"a":"one.safetensors","b":"two.safetensors"})"), HasSubstr("is also in"));
}

TEST(Shards, WithoutSafetensorsTheMessageNamesTheConversion) {
  try {
    read_stored_tensors(base::FileSet("dir"));
    FAIL() << "accepted";
  } catch (const base::InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("Convert to safetensors"));
  }
}

}  // namespace
}  // namespace stereosweep::model
