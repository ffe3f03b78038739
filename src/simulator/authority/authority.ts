import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { holderAltNames, type StringType, serverAltNames } from './alt-names.js';
import { type KeyPair, makeCertificate, newKeyPair, type Signer } from './certificate.js';
import { makePfx, type PfxFormat } from './pfx.js';

const DAY = 86_400_000;

export interface A1Request {
  /** CNPJ (14 characters, letters allowed) or CPF (11 digits). Not checked: a test may want a wrong one. */
  readonly taxId: string;
  readonly name: string;
  readonly password: string;
  /** Default `modern`. */
  readonly format?: PfxFormat;
  /** ASN.1 type of the ICP-Brasil values. Default `octet`, as the authorities mostly write it. */
  readonly stringType?: StringType;
  /** Default `valid`: from yesterday for one year. */
  readonly validity?: 'valid' | 'expired' | 'not_yet_valid' | { readonly notBefore: Date; readonly notAfter: Date };
  /** The instant that `validity` counts from. Default: now. */
  readonly now?: Date;
  /** One key for every certificate that asks so: a test with hundreds of companies does not want hundreds of keys. */
  readonly shareKey?: boolean;
  /** Order of the certificates in the PFX. Real files have both. Default `leaf_first`. */
  readonly order?: 'leaf_first' | 'root_first';
}

/** An A1 certificate. `chainPem`: leaf, then the intermediate; no root. */
export interface A1 {
  readonly pfx: Buffer;
  readonly keyPem: string;
  readonly chainPem: string;
  readonly caPem: string;
}

/** What an authority consists of, as kept in its folder. */
export interface AuthorityMaterial {
  readonly root: Signer;
  readonly intermediate: Signer;
  readonly server: Signer;
}

/** A made-up authority shaped like ICP-Brasil: root, intermediate, A1 leaves; and the certificate of the simulator's server. */
export class Authority {
  private sharedKey: KeyPair | null = null;

  constructor(readonly material: AuthorityMaterial) {}

  /** The root: what a client of the simulator has to trust, and what the simulator trusts in its clients. */
  get caPem(): string {
    return this.material.root.certificatePem;
  }

  /** Key and chain of the simulator's server, for `localhost`, `127.0.0.1` and the names it was made for. */
  get server(): { readonly keyPem: string; readonly chainPem: string } {
    const { server, intermediate } = this.material;
    return { keyPem: server.keyPem, chainPem: server.certificatePem + intermediate.certificatePem };
  }

  /** Issues an A1 certificate as key, chain and PFX. */
  issueA1(request: A1Request): A1 {
    const keys = request.shareKey === true ? this.shared() : newKeyPair();
    const { root, intermediate } = this.material;
    const leafPem = makeCertificate({
      commonName: `${request.name.toUpperCase().slice(0, 48)}:${request.taxId}`,
      publicPem: keys.publicPem,
      ...period(request),
      signer: intermediate,
      usage: 'client',
      altNames: holderAltNames(request.taxId, request.stringType ?? 'octet'),
    });
    const inFile = [leafPem, intermediate.certificatePem, root.certificatePem];
    const pfx = makePfx({
      keyPem: keys.privatePem,
      certificatesPem: request.order === 'root_first' ? inFile.reverse() : inFile,
      leafPem,
      password: request.password,
      format: request.format ?? 'modern',
    });
    return { pfx, keyPem: keys.privatePem, chainPem: leafPem + intermediate.certificatePem, caPem: this.caPem };
  }

  private shared(): KeyPair {
    this.sharedKey ??= newKeyPair();
    return this.sharedKey;
  }
}

/** Makes a new authority whose server certificate is good for `hosts` (and localhost). Takes about half a second. */
export function createAuthority(hosts: readonly string[] = []): Authority {
  const life = { notBefore: new Date(Date.now() - DAY), notAfter: new Date(Date.now() + 3650 * DAY) };
  const signed = (commonName: string, usage: 'authority' | 'server', signer: Signer | null, altNames?: Buffer) => {
    const keys = newKeyPair();
    const certificatePem = makeCertificate({
      commonName,
      publicPem: keys.publicPem,
      ...life,
      signer: signer ?? { selfKeyPem: keys.privatePem },
      usage,
      ...(altNames === undefined ? {} : { altNames }),
    });
    return { certificatePem, keyPem: keys.privatePem };
  };
  const root = signed('AC Raiz Simulada', 'authority', null);
  const intermediate = signed('AC Simulada Intermediaria', 'authority', root);
  const names = [...new Set(['localhost', '127.0.0.1', ...hosts])];
  const server = signed(names[0] ?? 'localhost', 'server', intermediate, serverAltNames(names));
  return new Authority({ root, intermediate, server });
}

/** Opens the authority kept in `folder`, or makes one and keeps it there, so that a restart trusts the same certificates. */
export function openAuthority(folder: string, hosts: readonly string[] = []): Authority {
  const file = join(folder, 'authority.json');
  if (existsSync(file)) return new Authority(JSON.parse(readFileSync(file, 'utf8')) as AuthorityMaterial);
  const authority = createAuthority(hosts);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, JSON.stringify(authority.material, null, 2), { mode: 0o600 });
  return authority;
}

function period(request: A1Request): { notBefore: Date; notAfter: Date } {
  const now = (request.now ?? new Date()).getTime();
  const days = (from: number, to: number) => ({
    notBefore: new Date(now + from * DAY),
    notAfter: new Date(now + to * DAY),
  });
  switch (request.validity ?? 'valid') {
    case 'valid':
      return days(-1, 365);
    case 'expired':
      return days(-366, -1);
    case 'not_yet_valid':
      return days(1, 366);
    default:
      return request.validity as { notBefore: Date; notAfter: Date };
  }
}
