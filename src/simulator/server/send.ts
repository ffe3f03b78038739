import type { ServerResponse } from 'node:http';
import type { ServiceAnswer } from './service.js';

/** Sends an answer, or as much of it as its wire fault allows, and reports how that ended. */
export function send(response: ServerResponse, answer: ServiceAnswer): void {
  let delivered = false;
  response.once('finish', () => {
    delivered = answer.wire?.type !== 'cut';
  });
  response.once('close', () => answer.over?.(delivered));

  const { wire } = answer;
  const socket = response.socket;
  if (wire === null) {
    begin(response, answer);
    response.end(answer.body);
    return;
  }
  switch (wire.type) {
    case 'reset':
      socket?.destroy();
      return;
    case 'hang':
      // Without a limit of its own it ends when the client gives up.
      if (wire.ms !== null) after(response, wire.ms, () => socket?.destroy());
      return;
    case 'cut': {
      begin(response, answer);
      const sent = wire.afterBytes ?? Math.floor(answer.body.length / 2);
      response.write(answer.body.subarray(0, sent), () => socket?.destroy());
      return;
    }
    case 'slow':
      begin(response, answer);
      trickle(response, answer.body, wire.ms);
  }
}

function begin(response: ServerResponse, answer: ServiceAnswer): void {
  response.writeHead(answer.httpStatus, {
    'Content-Type': answer.contentType,
    'Content-Length': answer.body.length,
    'Cache-Control': 'private, max-age=0',
    Server: 'Microsoft-IIS/10.0',
  });
}

/** Spreads a body over about `ms` milliseconds, in 20 pieces. */
function trickle(response: ServerResponse, body: Buffer, ms: number): void {
  const pieces = 20;
  const size = Math.ceil(body.length / pieces);
  const step = (from: number) => {
    if (from >= body.length) {
      response.end();
      return;
    }
    response.write(body.subarray(from, from + size));
    after(response, ms / pieces, () => step(from + size));
  };
  step(0);
}

/** A timer that keeps no process alive and dies with the connection. */
function after(response: ServerResponse, ms: number, what: () => void): void {
  const timer = setTimeout(what, ms);
  timer.unref();
  response.once('close', () => clearTimeout(timer));
}
