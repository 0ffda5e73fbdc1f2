// Hands bytes to the reader as a file. The link exists for the moment of the click only.
export function saveAs(bytes: Blob, name: string): void {
  const address = URL.createObjectURL(bytes);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  URL.revokeObjectURL(address);
}

// A job's name may hold what no file system takes.
export function fileName(job: string, ending: string): string {
  return `${job.replace(/[^\w.-]+/g, "_").slice(0, 80) || "job"}.${ending}`;
}
