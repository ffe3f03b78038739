import { readFileSync } from 'node:fs';
import { XmlDocument, XmlValidateError, XsdValidator } from 'libxml2-wasm';
import { xmlRegisterFsInputProviders } from 'libxml2-wasm/lib/nodejs.mjs';
import { sharedFile } from './shared.js';

xmlRegisterFsInputProviders();

/** Why tests of validity are skipped; undefined when the schemas are there. */
export const NO_SCHEMAS =
  sharedFile('schemas/cte/procCTe_v4.00.xsd') === null ? 'the official schemas are not here (../shared)' : undefined;

/** A validator for one of the official schemas (`cte/procCTe_v4.00.xsd`): null for valid, else the first fault. */
export function schemaOf(path: string): (xml: string) => string | null {
  const file = sharedFile(`schemas/${path}`);
  if (file === null) throw new Error(`no schema ${path}`);
  const validator = XsdValidator.fromDoc(XmlDocument.fromBuffer(readFileSync(file), { url: file }));
  return (xml) => {
    const document = XmlDocument.fromString(xml);
    try {
      validator.validate(document);
      return null;
    } catch (error) {
      if (error instanceof XmlValidateError) return error.message;
      throw error;
    } finally {
      document.dispose();
    }
  };
}
