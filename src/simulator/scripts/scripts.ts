import type { Environment } from '../../model/words.js';
import type { SimulatedType } from '../distribution/dialect.js';
import type { ScriptedAnswer } from './scripted-answer.js';

export const NFSE_CALL_KINDS = ['DFe', 'Eventos', 'nfse', 'nfseEvento', 'nfseEventoLido'] as const;
export const CALL_KINDS = [
  'distNSU',
  'consNSU',
  'consChNFe',
  'nfeRecepcaoEvento',
  'cteRecepcaoEvento',
  ...NFSE_CALL_KINDS,
] as const;
export type CallKind = (typeof CALL_KINDS)[number];

/** "The next n calls that look so get this answer." Absent conditions fit every call. */
export interface Script {
  readonly id: number;
  readonly documentType?: SimulatedType | 'nfse';
  readonly taxId?: string;
  readonly environment?: Environment;
  readonly kind?: CallKind;
  /** Null: until it is taken away. */
  readonly remaining: number | null;
  readonly answer: ScriptedAnswer;
}

/** The scripted answers that are still to come, in the order in which they were given. */
export class Scripts {
  private list: Script[] = [];
  private lastId = 0;

  add(script: Omit<Script, 'id'>): Script {
    const added = { id: ++this.lastId, ...script };
    this.list.push(added);
    return added;
  }

  all(): readonly Script[] {
    return this.list;
  }

  /** Takes away one script, or all of them. */
  clear(id?: number): void {
    this.list = id === undefined ? [] : this.list.filter((script) => script.id !== id);
  }

  /** The answer for this call, used up by it; null when it gets its real one. */
  take(call: {
    documentType: SimulatedType | 'nfse';
    taxId: string;
    environment: Environment;
    kind: CallKind;
  }): ScriptedAnswer | null {
    const found = this.list.find(
      (script) =>
        fitsType(script, call.documentType) &&
        (script.taxId ?? call.taxId) === call.taxId &&
        (script.environment ?? call.environment) === call.environment &&
        (script.kind ?? call.kind) === call.kind,
    );
    if (found === undefined) return null;
    if (found.remaining !== null) {
      const left = found.remaining - 1;
      this.list = this.list.flatMap((script) =>
        script !== found ? [script] : left > 0 ? [{ ...script, remaining: left }] : [],
      );
    }
    return found.answer;
  }
}

/** NFS-e speaks another language: what is meant for it says so. */
function fitsType({ documentType }: Script, called: SimulatedType | 'nfse'): boolean {
  return documentType === undefined ? called !== 'nfse' : documentType === called;
}
