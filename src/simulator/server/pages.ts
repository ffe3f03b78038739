/** The HTML that a front answers in the service's place. */
export function frontPage(status: number): string {
  const titles: Record<number, string> = {
    403: 'Forbidden: Access is denied.',
    404: 'File or directory not found.',
    405: 'HTTP verb used to access this page is not allowed.',
    502: 'Bad Gateway',
    503: 'Service Unavailable',
  };
  const title = `${status} - ${titles[status] ?? 'The page cannot be displayed.'}`;
  return (
    '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">' +
    `<html><head><title>${title}</title></head><body><div id="header"><h1>Server Error</h1></div>` +
    `<div id="content"><h2>${title}</h2></div></body></html>`
  );
}
