#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>

namespace che {

// Tables that an encoding computes on the host from positions alone, such as sines and distances, on the
// device of a model. With contiguous positions they are the same in every step, so that each is computed and
// copied once. It holds 64 MiB at most: before one too many it forgets all others. Serves one thread.
class TableCache {
 public:
  // The table's name, the number of tokens, and the first token that is a query.
  using Key = std::tuple<std::string, std::int64_t, std::int64_t>;

  // The table of that key, made by `build` unless it is there.
  at::Tensor get(Key key, const std::function<at::Tensor()>& build);

 private:
  std::map<Key, at::Tensor> tables_;
  std::size_t bytes_ = 0;
};

}  // namespace che
