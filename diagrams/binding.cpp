#include "diagrams/binding.h"

namespace napkin {

Operator operator_of(Function function) {
    switch (function) {
    case Function::Or: return {Binding::Or, Binding::Or, Binding::And};
    case Function::And: return {Binding::And, Binding::And, Binding::Not};
    case Function::Less:
    case Function::LessEqual:
    case Function::Greater:
    case Function::GreaterEqual:
    case Function::Equal:
    case Function::NotEqual: return {Binding::Compare, Binding::Sum, Binding::Sum};
    case Function::Add:
    case Function::Subtract: return {Binding::Sum, Binding::Sum, Binding::Product};
    case Function::Multiply:
    case Function::Divide:
    case Function::FloorDivide:
    case Function::Modulo: return {Binding::Product, Binding::Product, Binding::Negate};
    case Function::Power: return {Binding::Power, Binding::Atom, Binding::Negate};
    default: return {};
    }
}

}  // namespace napkin
