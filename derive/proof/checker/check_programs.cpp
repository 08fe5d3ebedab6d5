#include <algorithm>
#include <map>
#include <set>

#include "derive/proof/checker/check_certificate.h"
#include "derive/proof/checker/program_form.h"
#include "derive/proof/checker/program_runner.h"
#include "derive/proof/evaluate_plain.h"
#include "derive/proof/field_inputs.h"
#include "derive/proof/prove_program.h"
#include "derive/proof/renamed_grids.h"
#include "diagrams/check.h"

namespace napkin::proof::checker {
namespace {

FieldSettings settings_named(const std::string& reading) {
    for (const Choices choices : {Choices::Gauges, Choices::FreeMonoids, Choices::Cells})
        for (const bool strict : {true, false})
            for (const Nested nested : {Nested::Written, Nested::Factored, Nested::Whole})
                if (const FieldSettings settings{choices, strict, nested};
                    print(settings) == reading)
                    return settings;
    throw MalformedCertificate("no reading `" + reading + "`");
}

/// One shape of a certificate.
class ShapeChecker {
public:
    ShapeChecker(const Json& shape, const Diagram& plain)
        : shape_(shape), plain_(plain), program_(read_program(shape.at("program"), plain)) {
        check_form(program_, plain_);
    }

    std::vector<std::string> run() {
        for (const Json& output : shape_.at("outputs")) note_points(output);
        // A run tells of all outputs.
        for (const auto& [point, outputs] : points_)
            compare(settings_named(point.first), point.second, outputs);
        for (const auto& [output, count] : decided_)
            if (count == 0) fail("no element of `" + plain_[output].name + "` could be compared");
        for (const ArrayId output : napkin::outputs_of(plain_))
            if (decided_.count(output) == 0)
                fail("nothing is said of output `" + plain_[output].name + "`");
        return failures_;
    }

private:
    void fail(std::string what) {
        if (std::find(failures_.begin(), failures_.end(), what) == failures_.end())
            failures_.push_back(std::move(what));
    }

    /// The recorded points, and one that whoever wrote the certificate cannot have chosen: it
    /// follows from all of the shape.
    void note_points(const Json& output) {
        const std::string name = output.at("output").get<std::string>();
        const std::optional<ArrayId> array = find_array(plain_, name);
        if (!array || plain_[*array].role != ArrayRole::Output)
            throw MalformedCertificate("no output `" + name + "`");
        decided_[*array] = 0;
        const std::string reading = output.at("reading").get<std::string>();
        for (const Json& trial : output.at("trials"))
            points_[{reading, std::stoull(trial.at("seed").get<std::string>(), nullptr, 16)}]
                .insert(*array);
        points_[{reading, std::hash<std::string>()(shape_.dump())}].insert(*array);
    }

    void compare(FieldSettings settings, std::uint64_t seed, const std::set<ArrayId>& outputs) {
        FieldDomain domain(seed, settings, needs());
        const Grids<FieldValue> inputs = field_inputs(domain, plain_, seed);
        const Grids<FieldValue> expected =
            PlainEvaluator<FieldDomain>(domain, plain_, inputs).run();
        Memory memory;
        for (const auto& [id, grid] : inputs) memory.arrays[plain_[id].name] = grid;
        checker::run_program(domain, program_, memory);
        for (const ArrayId output : outputs)
            decided_[output] += equal_elements(domain, memory, output, expected.at(output));
    }

    std::int64_t equal_elements(FieldDomain& domain, Memory& memory, ArrayId output,
                                const Grid<FieldValue>& want) {
        const std::string& name = plain_[output].name;
        const std::vector<int>& writes = memory.writes[name];
        if (writes.size() != want.values.size() ||
            std::any_of(writes.begin(), writes.end(), [](int count) { return count != 1; })) {
            fail("elements of `" + name + "` are not written exactly once");
            return 0;
        }
        std::int64_t equal = 0;
        const Grid<FieldValue>& got = memory.arrays.at(name);
        for (std::size_t at = 0; at < want.values.size(); ++at) {
            const FieldValue& value = want.values[at];
            if (domain.equal(value, got.values[at]))
                ++equal;
            else if (!value.empty && !value.rootless && !got.values[at].rootless &&
                     value.kind != FieldValue::Kind::Poison)
                fail(element_name(name, want.extents, at) + " differs from the diagram's");
        }
        return equal;
    }

    [[nodiscard]] FieldNeeds needs() const {
        FieldNeeds needs;
        for (const Monoid& monoid : plain_.monoids) needs.ordered.push_back(!monoid.commutative);
        return needs;
    }

    const Json& shape_;
    const Diagram& plain_;
    ReadProgram program_;
    /// By reading and seed, the outputs that are compared there.
    std::map<std::pair<std::string, std::uint64_t>, std::set<ArrayId>> points_;
    std::map<ArrayId, std::int64_t> decided_;  ///< elements that came out equal
    std::vector<std::string> failures_;
};

}  // namespace

std::vector<std::string> check_programs(const Json& certificate, const SourceMap& sources,
                                        const syntax::File& file) {
    std::vector<std::string> failures;
    std::size_t number = 0;
    for (const Json& shape : certificate.at("shapes")) {
        ++number;
        Sizes sizes;
        for (const auto& [name, size] : shape.at("sizes").items())
            sizes[name] = size.get<std::int64_t>();
        const Result<Checked> plain = check(sources, file, sizes);
        if (!plain) {
            failures.push_back("the diagram is not well formed at the sizes of shape " +
                               std::to_string(number));
            continue;
        }
        try {
            for (const std::string& failure : ShapeChecker(shape, plain->diagram).run())
                failures.push_back("shape " + std::to_string(number) + ": " + failure);
        } catch (const Undecided& undecided) {
            failures.push_back("shape " + std::to_string(number) + ": " + undecided.what());
        } catch (const std::logic_error& broken) {
            failures.push_back("shape " + std::to_string(number) + ": " + broken.what());
        }
    }
    if (number == 0) failures.emplace_back("there is no shape");
    return failures;
}

}  // namespace napkin::proof::checker
