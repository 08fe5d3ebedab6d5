#include "derive/proof/checker/program_form.h"

#include <algorithm>
#include <map>

#include "diagrams/evaluate/arithmetic.h"
#include "diagrams/overloaded.h"

namespace napkin::proof::checker {
namespace {

void require(bool holds, const std::string& what) {
    if (!holds) throw MalformedCertificate(what);
}

std::vector<std::int64_t> extents_in(const Diagram& scope, ArrayId array) {
    std::vector<std::int64_t> extents;
    for (const AxisId axis : scope[array].axes) extents.push_back(scope[axis].extent);
    return extents;
}

std::int64_t elements_in(const Diagram& scope, ArrayId array) {
    std::int64_t elements = 1;
    for (const std::int64_t extent : extents_in(scope, array)) elements *= extent;
    return elements;
}

class FormChecker {
public:
    /// `device` has the extents of what earlier regions saved, by name; what this one saves joins.
    FormChecker(const ReadRegion& region, std::map<std::string, std::vector<std::int64_t>>& device)
        : scope_(region.scope), device_(device) {
        for (std::uint32_t i = 0; i < region.device_arrays; ++i)
            if (device.contains(scope_.arrays[i].name)) has_one_shape(ArrayId{i});
    }

    void monoids() const {
        for (const Monoid& monoid : scope_.monoids) {
            require(monoid.identity.size() == monoid.combine.size(),
                    "monoid `" + monoid.name + "` has parts without a rule");
            for (const Expression& each : monoid.identity) expression(each, 0);
            for (const Expression& each : monoid.combine)
                expression(each, 2 * monoid.combine.size());
        }
    }

    void steps(const std::vector<Step>& body) const {
        for (const Step& step : body)
            std::visit(overloaded{
                           [&](const Split& split) {
                               expressions(split.visible);
                               steps(split.body);
                           },
                           [&](const Fetch& fetch) {
                               for (const auto& each : fetch.index) expressions(each);
                               expressions(fetch.gather);
                           },
                           [&](const Calculate& calculate) { statement(calculate.statement); },
                           [&](const Put& put) {
                               has_one_shape(put.into);
                               require(extents_in(scope_, put.from) == extents_in(scope_, put.into),
                                       "a save of another shape than its array");
                           },
                       },
                       step.node);
    }

private:
    void has_one_shape(ArrayId array) const {
        const std::vector<std::int64_t> extents = extents_in(scope_, array);
        const auto known = device_.try_emplace(scope_[array].name, extents).first;
        require(known->second == extents, "`" + scope_[array].name + "` of two shapes");
    }
    void statement(const Statement& statement) const {
        const std::size_t targets = statement.targets.size();
        for (const ArrayId target : statement.targets)
            require(scope_[target].axes.size() == scope_[statement.targets[0]].axes.size(),
                    "results of one computation of several shapes");
        std::visit(overloaded{
                       [&](const Map& map) {
                           require(targets == 1, "a value for several results");
                           expression(map.value, 0);
                       },
                       [&](const Fold& fold) {
                           const std::size_t parts = scope_[fold.monoid].combine.size();
                           require(fold.values.size() == parts && targets == parts,
                                   "a fold with other parts than its monoid");
                           require(fold.seed.empty() || fold.seed.size() == parts,
                                   "a seed with other parts than its monoid");
                           require(!fold.over.empty(), "a fold over nothing");
                           expressions(fold.values);
                           expressions(fold.seed);
                       },
                       [&](const Select& select) {
                           require(targets == 2, "a selection has a value and an index");
                           expression(select.value, 0);
                       },
                       [](const Opaque&) {},
                   },
                   statement.body);
    }
    void expressions(const std::vector<Expression>& list) const {
        for (const Expression& each : list) expression(each, 0);
    }
    void expression(const Expression& whole, std::size_t operands) const {
        walk(whole, [&](const Expression& node) {
            if (const Read* element = std::get_if<Read>(&node.node))
                require(element->index.size() == scope_[element->array].axes.size(),
                        "`" + scope_[element->array].name + "` at another number of indices");
            if (const Apply* call = std::get_if<Apply>(&node.node))
                require(call->arguments.size() == arity(call->function),
                        "`" + std::string(name_of(call->function)) + "` of other arguments");
            if (const Operand* operand = std::get_if<Operand>(&node.node))
                require(operand->slot < operands, "an operand that is none");
        });
    }

    const Diagram& scope_;
    std::map<std::string, std::vector<std::int64_t>>& device_;
};

}  // namespace

void check_form(const ReadProgram& program, const Diagram& plain) {
    std::map<std::string, std::vector<std::int64_t>> device;
    for (const ReadRegion& region : program.regions) {
        for (std::uint32_t i = 0; i < region.device_arrays; ++i) {  // a split axis is two
            const std::optional<ArrayId> known = find_array(plain, region.scope.arrays[i].name);
            require(!known || plain[*known].role == ArrayRole::Intermediate ||
                        elements_in(plain, *known) == elements_in(region.scope, ArrayId{i}),
                    "`" + region.scope.arrays[i].name + "` of another size than the diagram's");
        }
        const FormChecker checker(region, device);
        checker.monoids();
        checker.steps(region.body);
    }
}

}  // namespace napkin::proof::checker
