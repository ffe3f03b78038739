import type { FastifySwaggerUiOptions } from '@fastify/swagger-ui';

/** A sealed pouch, and the name beside it. */
const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" width="132" height="40" viewBox="0 0 132 40">
  <path d="M8 12h24l3 22H5z" fill="#2f9e6e"/>
  <path d="M12 12V9a8 8 0 0 1 16 0v3" fill="none" stroke="#ffffff" stroke-width="2.5"/>
  <circle cx="20" cy="23" r="4.5" fill="#f2c14e"/>
  <text x="44" y="28" font-family="Segoe UI, Helvetica, Arial, sans-serif" font-size="23" font-weight="600" fill="#ffffff">Malote</text>
</svg>`;

/** The reference at `/docs`: made from the same schemas that validate the requests. */
export const referencePage: FastifySwaggerUiOptions = {
  routePrefix: '/docs',
  theme: {
    title: 'Malote API',
    favicon: [
      {
        filename: 'favicon.svg',
        rel: 'icon',
        type: 'image/svg+xml',
        sizes: 'any',
        content: LOGO.replace('width="132" height="40" viewBox="0 0 132 40"', 'viewBox="0 0 40 40"'),
      },
    ],
  },
  logo: { type: 'image/svg+xml', content: Buffer.from(LOGO), href: '/docs', target: '_self' },
  uiConfig: { docExpansion: 'list', displayRequestDuration: true, filter: true },
};
