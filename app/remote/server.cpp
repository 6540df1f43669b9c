#include "app/remote/server.h"

namespace remote {

const char* name_of(Kind kind)
{
    switch (kind) {
    case Kind::Spillway:
        return "Spillway";
    case Kind::LlamaServer:
        return "llama-server";
    case Kind::Vllm:
        return "vLLM";
    case Kind::SgLang:
        return "SGLang";
    case Kind::Tgi:
        return "TGI";
    case Kind::Ollama:
        return "Ollama";
    case Kind::LmStudio:
        return "LM Studio";
    case Kind::Unknown:
        break;
    }
    return "";
}

}  // namespace remote
