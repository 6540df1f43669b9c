// Asks a server with official clients, and says what each got; ends with 1 where one is not served.
import assert from 'node:assert/strict'
import OpenAI from 'openai'
import Anthropic from '@anthropic-ai/sdk'
import { Ollama } from 'ollama'

const url = process.argv[2]
const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 })
const anthropic = new Anthropic({ baseURL: url, apiKey: 'none', maxRetries: 0 })
const ollama = new Ollama({ host: url })
const model = 'guide'
const messages = [{ role: 'user', content: 'What is a KV cache?' }]
const tools = [{ type: 'function', function: { name: 'now', parameters: { type: 'object', properties: {} } } }]
const schema = {
  type: 'object',
  properties: { days: { type: 'integer', minimum: 1, maximum: 9 }, unit: { type: 'string', enum: ['C', 'F'] } },
  required: ['days', 'unit'],
  additionalProperties: false,
}
const forecast = { type: 'function', function: { name: 'forecast', parameters: schema, strict: true } }
const fits = ({ days, unit, ...more }) => {
  assert.ok(days >= 1 && days <= 9 && ['C', 'F'].includes(unit))
  assert.deepEqual(more, {})
}
const greedy = { model, messages, temperature: 0, max_tokens: 24 }

let text // of the greedy answer, which all are to give
const checks = {
  'openai: models': async () => {
    const names = []
    for await (const one of openai.models.list()) names.push(one.id)
    assert.deepEqual(names, [model])
  },
  'openai: chat': async () => {
    const answer = await openai.chat.completions.create(greedy)
    text = answer.choices[0].message.content
    assert.match(text, /keys and values/)
    assert.equal(answer.usage.completion_tokens, 24)
  },
  'openai: stream with usage': async () => {
    let said = '', usage
    for await (const part of await openai.chat.completions.create({ ...greedy, stream: true, stream_options: { include_usage: true } })) {
      said += part.choices[0]?.delta.content ?? ''
      usage = part.usage ?? usage
    }
    assert.equal(said, text)
    assert.equal(usage.completion_tokens, 24)
  },
  'openai: stream helper with logprobs and two answers': async () => {
    const stream = openai.chat.completions.stream({ ...greedy, temperature: 1, seed: 3, n: 2, logprobs: true, top_logprobs: 2 })
    const answer = await stream.finalChatCompletion()
    assert.equal(answer.choices.length, 2)
    for (const choice of answer.choices) {
      assert.equal(choice.logprobs.content.map((token) => token.token).join(''), choice.message.content)
      assert.equal(choice.logprobs.content[0].top_logprobs.length, 2)
    }
  },
  'openai: tools offered': async () => {
    const answer = await openai.chat.completions.create({ ...greedy, tools, tool_choice: 'auto' })
    assert.ok(['stop', 'length', 'tool_calls'].includes(answer.choices[0].finish_reason))
  },
  'openai: a call is demanded': async () => {
    for (const tool_choice of ['required', { type: 'function', function: { name: 'forecast' } }]) {
      const asked = { model, messages, tools: [forecast], tool_choice, parallel_tool_calls: false }
      const [choice] = (await openai.chat.completions.create(asked)).choices
      assert.equal(choice.finish_reason, 'tool_calls')
      assert.equal(choice.message.tool_calls.length, 1)
      fits(JSON.parse(choice.message.tool_calls[0].function.arguments))
    }
  },
  'openai: stream helper, a call in pieces': async () => {
    let pieces = 0
    const stream = openai.chat.completions.stream({ model, messages, tools: [forecast], tool_choice: 'required', parallel_tool_calls: false })
      .on('tool_calls.function.arguments.delta', () => ++pieces)
    const [choice] = (await stream.finalChatCompletion()).choices
    fits(choice.message.tool_calls[0].function.parsed_arguments)
    assert.ok(pieces > 3, `${pieces} pieces`)
  },
  'openai: a tool is run, and the model is told': async () => {
    const given = []
    const tool = { type: 'function', function: { ...forecast.function, parse: JSON.parse, function: (args) => { given.push(args); return 'sun' } } }
    const runner = openai.chat.completions.runTools({ model, messages, tools: [tool], tool_choice: { type: 'function', function: { name: 'forecast' } }, parallel_tool_calls: false, temperature: 0, max_tokens: 400 })
    await runner.finalChatCompletion()
    fits(given[0])
  },
  'openai: responses, a call': async () => {
    let pieces = 0
    const stream = openai.responses.stream({ model, input: 'x', parallel_tool_calls: false, tool_choice: 'required',
                                             tools: [{ type: 'function', name: 'forecast', parameters: schema, strict: true }] })
      .on('response.function_call_arguments.delta', () => ++pieces)
    const [item] = (await stream.finalResponse()).output
    assert.equal(item.name, 'forecast')
    fits(JSON.parse(item.arguments))
    assert.ok(pieces > 3, `${pieces} pieces`)
  },
  'openai: completion with logprobs': async () => {
    const answer = await openai.completions.create({ model, prompt: 'A KV cache', temperature: 0, max_tokens: 4, logprobs: 1 })
    const [choice] = answer.choices
    assert.equal(choice.logprobs.tokens.join(''), choice.text)
    assert.equal(choice.logprobs.tokens.length, answer.usage.completion_tokens)
  },
  'openai: responses': async () => {
    const stream = openai.responses.stream({ model, input: 'What is a KV cache?', temperature: 0, max_output_tokens: 24 })
    const answer = await stream.finalResponse()
    assert.equal(answer.output_text, text)
  },
  'openai: an error names its field': async () => {
    await assert.rejects(openai.chat.completions.create({ ...greedy, temperature: -1 }),
      (error) => error instanceof OpenAI.BadRequestError && error.param === 'temperature')
  },
  'openai: no embeddings': async () => {
    await assert.rejects(openai.embeddings.create({ model, input: 'x' }), /gives no embeddings/)
  },
  'openai: abort': async () => {
    const stream = await openai.chat.completions.create({ ...greedy, max_tokens: 400, stream: true })
    for await (const part of stream) if (part.choices[0]?.delta.content) break
    assert.ok((await openai.chat.completions.create({ ...greedy, max_tokens: 1 })).id)
  },
  'anthropic: message': async () => {
    const answer = await anthropic.messages.create({ ...greedy })
    assert.equal(answer.content.map((block) => block.text ?? '').join(''), text)
  },
  'anthropic: stream': async () => {
    const answer = await anthropic.messages.stream({ ...greedy }).finalMessage()
    assert.equal(answer.content[0].text, text)
    assert.equal(answer.usage.output_tokens, 24)
  },
  'anthropic: a call is demanded': async () => {
    let pieces = 0
    const asked = { model, messages, max_tokens: 200, tools: [{ name: 'forecast', input_schema: schema }] }
    const stream = anthropic.messages.stream({ ...asked, tool_choice: { type: 'any', disable_parallel_tool_use: true } })
      .on('inputJson', () => ++pieces)
    const message = await stream.finalMessage()
    assert.equal(message.stop_reason, 'tool_use')
    fits(message.content[0].input)
    assert.ok(pieces > 3, `${pieces} pieces`)
    const one = await anthropic.messages.create({ ...asked, tool_choice: { type: 'tool', name: 'forecast', disable_parallel_tool_use: true } })
    fits(one.content[0].input)
  },
  'anthropic: tokens are counted': async () => {
    assert.ok((await anthropic.messages.countTokens({ model, messages })).input_tokens > 5)
  },
  'anthropic: an error': async () => {
    await assert.rejects(anthropic.messages.create({ ...greedy, messages: [] }), Anthropic.BadRequestError)
  },
  'ollama: chat': async () => {
    const answer = await ollama.chat({ model, messages, options: { temperature: 0, num_predict: 24 } })
    assert.equal(answer.message.content, text)
  },
  'ollama: stream': async () => {
    let said = ''
    for await (const part of await ollama.chat({ model, messages, stream: true, options: { temperature: 0, num_predict: 24 } }))
      said += part.message.content
    assert.equal(said, text)
  },
  'ollama: list, show, ps, version, pull': async () => {
    assert.equal((await ollama.list()).models[0].name, `${model}:latest`)
    assert.ok((await ollama.show({ model })).capabilities.includes('completion'))
    assert.equal((await ollama.ps()).models[0].name, `${model}:latest`)
    assert.ok((await ollama.version()).version)
    assert.equal((await ollama.pull({ model })).status, 'success')
  },
  'ollama: no embeddings': async () => {
    await assert.rejects(ollama.embed({ model, input: 'x' }), /gives no embeddings/)
  },
}

let failed = 0
for (const [name, check] of Object.entries(checks)) {
  try {
    await check()
    console.log(`ok      ${name}`)
  } catch (error) {
    failed += 1
    console.log(`FAILED  ${name}: ${error.message}`)
  }
}
process.exit(failed > 0 ? 1 : 0)
