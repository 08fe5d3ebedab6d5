// The compiled half of the Python package `napkin`: one class over the functions that the command
// line calls. What people see is python/napkin.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>

#include "cli/json.h"
#include "diagrams/drawing/theme.h"
#include "python/answers.h"
#include "python/arrays.h"

namespace nb = nanobind;

namespace napkin::python {
namespace {

/// Raises `napkin.Refusal`.
void translate(const std::exception_ptr& thrown, void* /*unused*/) {
    try {
        std::rethrow_exception(thrown);
    } catch (const Refused& refused) {
        const nb::object type = nb::module_::import_("napkin._refusal").attr("Refusal");
        const nb::object value = type(refused.what(), refused.json());
        PyErr_SetObject(type.ptr(), value.ptr());
    }
}

/// Past when the time is over; Ctrl-C ends what asks with Python's exception.
Deadline deadline_in(double seconds) {
    const Deadline over = seconds > 0 ? Deadline::in(seconds) : Deadline();
    return Deadline([=] {
        const nb::gil_scoped_acquire held;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        return over.is_past();
    });
}

NpyContent::Kind kind_of(const std::string& kind) {
    if (kind == "b") return NpyContent::Kind::Boolean;
    return kind == "f" ? NpyContent::Kind::Floating : NpyContent::Kind::Integer;
}

using Values = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

/// `(outputs by name, report as JSON)` of inputs `(name, descr, kind, values)`.
nb::tuple run(const Derivation& derivation, const std::vector<nb::tuple>& inputs,
              const std::string& device, const std::string& target, std::uint64_t seed) {
    std::vector<GivenArray> given;
    for (const nb::tuple& input : inputs)
        given.push_back({nb::cast<std::string>(input[0]), nb::cast<std::string>(input[1]),
                         kind_of(nb::cast<std::string>(input[2])), nb::cast<Values>(input[3])});
    const Tensors tensors = given.empty() ? Tensors() : tensors_of(derivation, given);
    const cli::RunReport report = [&] {
        const nb::gil_scoped_release released;
        return derivation.run(tensors, device, target, seed);
    }();
    nb::dict outputs;
    for (const ArrayId array : outputs_of(derivation.plain()))
        outputs[derivation.plain()[array].name.c_str()] = array_of(report.outputs.at(array));
    return nb::make_tuple(outputs, cli::to_json(report).dump());
}

std::string draw(const Derivation& derivation, const std::string& format,
                 const std::string& machine, const std::string& region, const std::string& theme,
                 int width) {
    if (!drawing::theme_named(theme))
        throw nb::value_error(
            ("there is no theme `" + theme + "`; there are paper, slides, contrast and dark")
                .c_str());
    const drawing::Format as = format == "text" ? drawing::Format::Text : drawing::Format::Svg;
    return derivation.draw({as, machine, region, theme, width});
}

std::vector<nb::tuple> arrays(const Derivation& derivation, ArrayRole role) {
    std::vector<nb::tuple> list;
    for (const ArrayFacts& each : derivation.arrays(role))
        list.push_back(nb::make_tuple(each.name, each.type, each.axes, each.shape));
    return list;
}

}  // namespace

NB_MODULE(_core, module) {
    nb::register_exception_translator(translate);
    module.def("machines", machines);
    module.def("version", version);
    nb::class_<Derivation>(module, "Derivation")
        .def(nb::init<std::string, std::string, std::string, cli::Settings>())
        .def_prop_ro("name", &Derivation::diagram_name)
        .def_prop_ro("text", &Derivation::canonical_text)
        .def_prop_ro("steps", &Derivation::steps)
        .def_prop_ro("sizes", &Derivation::sizes)
        .def_prop_ro("warnings", &Derivation::warnings)
        .def_prop_ro("inputs",
                     [](const Derivation& self) { return arrays(self, ArrayRole::Input); })
        .def_prop_ro("outputs",
                     [](const Derivation& self) { return arrays(self, ArrayRole::Output); })
        .def("cost", &Derivation::cost)
        .def("derivation", &Derivation::derivation)
        .def("search",
             [](const Derivation& self, const std::string& machine, int top, double seconds,
                const std::string& target) {
                 const nb::gil_scoped_release released;
                 return self.search(machine, top, target, deadline_in(seconds));
             })
        .def("prove", &Derivation::prove, nb::call_guard<nb::gil_scoped_release>())
        .def("emit",
             [](const Derivation& self, const std::string& as, const std::string& target,
                const std::string& arch, bool unproved) {
                 const nb::gil_scoped_release released;
                 return self.emit({as, target, arch, unproved});
             })
        .def(
            "operator_files",
            [](const Derivation& self, const std::string& name,
               const std::vector<std::string>& dynamic, const std::string& target,
               const std::string& arch, bool unproved, const Derivation* gradient) {
                const nb::gil_scoped_release released;
                return self.operator_files({name, dynamic, target, arch, unproved}, gradient);
            },
            nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none())
        .def("draw", draw)
        .def("run", run);
}

}  // namespace napkin::python
