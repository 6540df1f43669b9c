// Makes models of known shapes with random weights, made on the spot: to measure a machine, or to try how a model would
// run there, without a download. What they say is noise; speed, memory and placement are a real model's.
#pragma once

#include "engine/result.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// The file of such a model. Other programs do not find it, and it is gone with the object, however the program ends
/// (on Windows: unless the program is killed after the file was made).
class ShapeModel
{
public:
    /// `name`: "mistral-7b:q4_k_m"; without a quantisation: q4_k_m. The file is made in `folder`. `on_progress` gets
    /// the share that is written and returns false to give up (Cancelled). BadRequest: no such shape or quantisation;
    /// CannotWrite: there is not enough room.
    static Result<ShapeModel> make(std::string_view name, const std::filesystem::path& folder,
                                   const std::function<bool(double)>& on_progress = {});
    /// Makes a model with the very tensors of another, their types, and all that its header says, so that one can try
    /// how it would run here before more than its header is there. Unsupported: it has tensors of which no random ones
    /// can be made.
    static Result<ShapeModel> like(const std::filesystem::path& model, const std::filesystem::path& folder,
                                   const std::function<bool(double)>& on_progress = {});
    ShapeModel(ShapeModel&&) noexcept;
    ShapeModel& operator=(ShapeModel&&) noexcept;
    ~ShapeModel();

    /// Returns what may be opened as long as the object lives, also by other processes of the same user.
    const std::filesystem::path& path() const;

private:
    class File;
    explicit ShapeModel(std::unique_ptr<File> file);
    std::unique_ptr<File> file_;
};

/// Lists the names of the shapes: "mistral-7b", "llama-3.2-1b", ...
std::vector<std::string> shape_names();
/// Lists the names of the quantisations: "q4_k_m", "q8_0", ...
std::vector<std::string> shape_quantisations();
/// Returns the routed experts of a layer of such a shape; 0: it has none, or there is no such shape.
int shape_experts(std::string_view name);

}  // namespace engine
