import { CONCLUSIVE_DAYS, CONCLUSIVE_TYPES } from '../model/manifestation.js';

/**
 * The recipient's work list as SQL over `documents d`: notes that a conclusive statement is still missing for.
 */

/** When a note's time to answer begins; as the index `documents_answerable` has it. Never later than by law. */
export const ANSWERABLE_FROM = 'coalesce(d.authorized_at, d.issued_at)';

/** The length of that time. */
export const ANSWER_TIME = `interval '${CONCLUSIVE_DAYS} days'`;

/** Only notes: what the index `documents_answerable` holds. */
const NOTES = `d.direction = 'received' and d.kind in ('procNFe', 'resNFe')`;

/**
 * Notes of which the company is the recipient, which nobody cancelled, and about which it has said nothing conclusive, neither through
 * Malote nor with another program: 655 (Awareness after a conclusive statement) tells of one that is not known here, case C55. A summary
 * whose whole note came is left out: the note stands for it.
 */
export const AWAITS_ANSWER = `${NOTES} and d.state not in ('cancelled', 'denied')
  and (d.kind = 'procNFe' or d.full_xml <> 'present')
  and (d.kind = 'resNFe' or exists (
    select from companies r where r.id = d.company_id and r.tax_id = d.recipient_tax_id))
  and not exists (
    select from documents e
    where e.key = d.key and e.company_id = d.company_id and e.environment = d.environment
      and e.event_type in (${CONCLUSIVE_TYPES.map((type) => `'${type}'`).join(', ')}))
  and not exists (
    select from manifestations m
    where m.key = d.key and m.company_id = d.company_id and m.environment = d.environment
      and (m.status = 'registered' and m.type in (${CONCLUSIVE_TYPES.map((type) => `'${type}'`).join(', ')})
        or m.status_code = '655'))`;
