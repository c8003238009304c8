#pragma once

#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include <utility>

namespace che {

template <class State>
struct StateHolder : torch::CustomClassHolder {
  explicit StateHolder(State value) : state(std::move(value)) {}
  State state;
};

// Keeps what is no tensor from a forward to its backward pass.
template <class State>
void save_state(torch::autograd::AutogradContext* context, State state) {
  context->saved_data["state"] =
      c10::IValue::make_capsule(c10::make_intrusive<StateHolder<State>>(std::move(state)));
}

template <class State>
State saved_state(torch::autograd::AutogradContext* context) {
  return static_cast<const StateHolder<State>&>(*context->saved_data.at("state").toCapsule()).state;
}

}  // namespace che
