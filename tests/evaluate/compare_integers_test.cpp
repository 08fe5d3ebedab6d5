// What is computed in integers is exact, in a monoid of one's own too.
#include <doctest/doctest.h>

#include "builder.h"
#include "diagrams/compare.h"
#include "diagrams/infinity.h"

using napkin::ArrayId;
using napkin::ArrayRole;
using napkin::AxisId;
using napkin::ElementType;
using napkin::Expression;
using napkin::Fold;
using napkin::Function;
using napkin::test::Builder;
using napkin::test::operator+;
using napkin::test::operator*;

TEST_CASE("compare: a monoid of integers is exact, but where it or its elements are real") {
    struct Rule {
        Expression combine;
        bool real_elements;
        bool exact;
    };
    const Expression a{napkin::Operand{0}, {}};
    const Expression b{napkin::Operand{1}, {}};
    for (const Rule& rule :
         {Rule{apply(Function::BitOr, {a, b}), false, true},
          Rule{apply(Function::Modulo, {a + b, napkin::integer(1009)}), false, true},
          Rule{apply(Function::Select, {apply(Function::Less, {a, b}), b, a}), false, true},
          Rule{a + b, true, false}, Rule{(a + b) * napkin::number(0.1), false, false},
          Rule{apply(Function::Floor, {apply(Function::Divide, {a, b})}), false, false}}) {
        Builder built;
        const AxisId n = built.axis("n", 6);
        const ArrayId whole = built.input("A", {n}, ElementType::I32);
        const ArrayId real = built.input("X", {n});
        const ArrayId folded = built.array("Y", {}, ArrayRole::Output,
                                           rule.exact ? ElementType::I32 : ElementType::F32);
        built.diagram.monoids.push_back({"rule", {napkin::integer(0)}, {rule.combine}, true, {}});
        built.define({folded}, Fold{napkin::MonoidId{4},
                                    {n},
                                    {built.at(rule.real_elements ? real : whole)},
                                    {},
                                    false});
        CHECK_EQ(error_diagram(built.diagram, {}).bounds.empty(), rule.exact);
    }
}

TEST_CASE("compare: integers are exact where the least of them stands for an infinity") {
    for (const ElementType type : {ElementType::I64, ElementType::F32}) {
        Builder built;
        const AxisId n = built.axis("n", 6);
        const ArrayId input = built.input("A", {n}, ElementType::I32);
        const Expression value = apply(
            Function::Select, {apply(Function::Less, {napkin::axis_index(n), napkin::integer(4)}),
                               built.at(input), napkin::number(-napkin::kInfinity)});
        built.diagram.monoids.push_back(
            {"larger",
             {napkin::number(-napkin::kInfinity)},
             {apply(Function::Max,
                    {Expression{napkin::Operand{0}, {}}, Expression{napkin::Operand{1}, {}}})},
             true,
             {}});
        const ArrayId folded = built.array("Y", {}, ArrayRole::Output, type);
        built.define({folded}, Fold{napkin::MonoidId{4}, {n}, {value}, {}, false});
        CHECK_EQ(error_diagram(built.diagram, {}).bounds.empty(), type == ElementType::I64);
    }
}
