import type { XmlNode } from '../../kit/xml-node.js';
import { air } from './air.js';
import type { ModalBlock } from './block.js';
import { multimodal } from './multimodal.js';
import { pipeline } from './pipeline.js';
import { rail } from './rail.js';
import { road, roadOfPeople } from './road.js';
import { water } from './water.js';

type Reader = (modal: XmlNode) => ModalBlock;

/** By the element in infModal. */
const BLOCKS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['rodo', road],
  ['rodoOS', roadOfPeople],
  ['aereo', air],
  ['aquav', water],
  ['ferrov', rail],
  ['duto', pipeline],
  ['multimodal', multimodal],
]);

/** The block of the element that is there, whatever ide/modal says. Null without one, and for one that nobody knows yet. */
export function readModal(infModal: XmlNode): ModalBlock | null {
  const modal = infModal.at('*');
  const block = BLOCKS.get(modal.name)?.(modal);
  if (block === undefined) return null;
  return {
    ...block,
    rows: block.rows.filter((row) => row.length > 0),
    records: block.records.filter(({ rows }) => rows.length > 0),
  };
}
